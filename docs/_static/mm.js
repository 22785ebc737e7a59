// Majorization-minimization for sparse PCA in a few variables (B = I): f, its surrogate g and the minimiser of g.
// The formulas are those of dcgev_cvx/programs.py and dcgev_cvx/steps/closed.py; tests/test_moving_picture.py compares
// the two on a grid.
"use strict";

const MM = (() => {
  const sum = (values) => values.reduce((total, value) => total + value, 0);
  const dot = (a, b) => sum(a.map((ai, i) => ai * b[i]));
  const norm = (x) => Math.sqrt(dot(x, x));

  /** log(1 + 1/ε), accurate for small and for large ε. */
  const logScale = (eps) => (eps < 1 ? Math.log1p(eps) - Math.log(eps) : Math.log1p(1 / eps));

  /** min f(x) = ρ_ε Σ log(ε + |xᵢ|) − xᵀAx over ‖x‖ ≤ 1, with the split of −xᵀAx into τ‖x‖² and −xᵀ(A + τI)x. */
  function program(A, rho, eps, tau) {
    const rhoEps = rho / logScale(eps);
    const Atimes = (x) => A.map((row) => dot(row, x));

    /** f(x), equation (20). */
    const f = (x) => rhoEps * sum(x.map((xi) => Math.log(eps + Math.abs(xi)))) - dot(x, Atimes(x));

    /** g(x, y), equation (21): both concave parts of f are replaced by their tangents at y. */
    function g(x, y) {
      const d = x.map((xi, i) => xi - y[i]);
      const quadratic = tau * dot(d, d) - dot(x.map((xi, i) => xi + d[i]), Atimes(y));
      const tangent = y.map((yi, i) => Math.log(eps + Math.abs(yi)) + (Math.abs(x[i]) - Math.abs(yi)) / (Math.abs(yi) + eps));
      return quadratic + rhoEps * sum(tangent);
    }

    /** The minimiser of g(·, y) over ‖x‖ ≤ 1: a soft threshold, then a division; (ALG-S) for τ = 0. */
    function argmin(y) {
      const c = Atimes(y).map((ci, i) => ci + tau * y[i]);
      const z = c.map((ci, i) => Math.sign(ci) * Math.max(0, Math.abs(ci) - rhoEps / (2 * (Math.abs(y[i]) + eps))));
      const divisor = Math.max(tau, norm(z));
      return divisor > 0 ? z.map((zi) => zi / divisor) : z;
    }

    /** x⁽⁰⁾, …, x⁽ˡ⁾ with l = steps. */
    function iterates(start, steps) {
      const path = [start];
      while (path.length <= steps) path.push(argmin(path[path.length - 1]));
      return path;
    }

    return { f, g, argmin, iterates };
  }

  return { program, norm };
})();

if (typeof module !== "undefined") module.exports = MM;
