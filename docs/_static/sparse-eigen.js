// Sparse PCA of a small matrix (B = I): the d.c. run, the dual bound, the optimum by all supports, and the tree that
// proves it. Every function returns data; whole-method.js draws them. tests/test_whole_method.py compares the numbers
// with the package's.
"use strict";

const SparseEigen = (() => {
  const UNIT_ROUNDOFF = 2 ** -53;
  const EPSILONS = [3, 1, 0.3, 0.1, 0.03, 0.01, 0.001];
  const STEPS_PER_EPSILON = 15;

  const range = (n) => Array.from({ length: n }, (_, i) => i);
  const sum = (values) => values.reduce((total, value) => total + value, 0);
  const dot = (a, b) => a.reduce((total, ai, i) => total + ai * b[i], 0);
  const norm = (x) => Math.sqrt(dot(x, x));
  const times = (A, x) => A.map((row) => dot(row, x));
  const combine = (A, B, h) => A.map((row, i) => row.map((a, j) => h(a, B[i][j])));
  const largest = (A) => Math.max(...A.map((row) => Math.max(...row.map(Math.abs))));
  const part = (A, support) => support.map((i) => support.map((j) => A[i][j]));

  /** The eigenvalues of a symmetric matrix in ascending order, with the eigenvectors as rows: Jacobi's method. */
  function eigen(A) {
    const n = A.length;
    const M = A.map((row) => row.slice());
    const V = range(n).map((i) => range(n).map((j) => +(i === j)));
    for (let sweep = 0; sweep < 50; sweep++) {
      let off = 0;
      for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) off += M[i][j] ** 2;
      if (off <= (1e-17 * largest(M)) ** 2) break;
      for (let p = 0; p < n; p++) for (let q = p + 1; q < n; q++) rotate(M, V, p, q);
    }
    const order = range(n).sort((i, j) => M[i][i] - M[j][j]);
    return { values: order.map((i) => M[i][i]), vectors: order.map((i) => V[i]) };
  }

  /** The rotation that makes M[p][q] zero; the rows of V collect the eigenvectors. */
  function rotate(M, V, p, q) {
    if (M[p][q] === 0) return;
    const theta = (M[q][q] - M[p][p]) / (2 * M[p][q]);
    const t = (theta < 0 ? -1 : 1) / (Math.abs(theta) + Math.hypot(theta, 1));
    const c = 1 / Math.hypot(t, 1);
    const s = t * c;
    for (const row of M) [row[p], row[q]] = [c * row[p] - s * row[q], s * row[p] + c * row[q]];
    for (const W of [M, V]) {
      for (let j = 0; j < M.length; j++) [W[p][j], W[q][j]] = [c * W[p][j] - s * W[q][j], s * W[p][j] + c * W[q][j]];
    }
    M[p][q] = M[q][p] = 0;
  }

  /** The largest eigenvalue and its vector, whose largest entry is positive. */
  function leading(A) {
    const { values, vectors } = eigen(A);
    const x = vectors[A.length - 1];
    const sign = x[range(A.length).reduce((best, i) => (Math.abs(x[i]) > Math.abs(x[best]) ? i : best), 0)] < 0 ? -1 : 1;
    return { value: values[A.length - 1], x: x.map((xi) => sign * xi) };
  }

  /** The best vector on a support, in the whole space. */
  function onSupport(A, support) {
    const best = leading(part(A, support));
    const x = range(A.length).map(() => 0);
    support.forEach((i, position) => (x[i] = best.x[position]));
    return { support, value: best.value, x };
  }

  // ------------------------------------------------------------------------------------------------ the d.c. run

  /** log(1 + 1/ε), accurate for small ε. */
  const logScale = (eps) => Math.log1p(eps) - Math.log(eps);

  /** The smallest τ ≥ 0 with A + τI ⪰ 0. */
  const smallestTau = (A) => Math.max(0, -eigen(A).values[0]);

  /** One step: the soft threshold of c = (A + τI)y at ρ_ε wᵢ/2, divided by max(τ, its norm); (ALG-S) for τ = 0. */
  function step(A, tau, y, rhoEps, eps) {
    const c = times(A, y).map((ci, i) => ci + tau * y[i]);
    const z = c.map((ci, i) => Math.sign(ci) * Math.max(0, Math.abs(ci) - rhoEps / (2 * (Math.abs(y[i]) + eps))));
    const divisor = Math.max(tau, norm(z));
    return divisor > 0 ? z.map((zi) => zi / divisor) : z;
  }

  /** Algorithm 2 at a given ρ̃ and ε = machine precision, from the leading eigenvector. */
  function runAtRho(A, rho, most = 1000) {
    const eps = 2 ** -52;
    const tau = smallestTau(A);
    const rhoEps = rho / logScale(eps);
    const points = [{ x: leading(A).x, rhoEps, eps }];
    while (points.length <= most) {
      const y = points[points.length - 1].x;
      const x = step(A, tau, y, rhoEps, eps);
      points.push({ x, rhoEps, eps });
      if (norm(x.map((xi, i) => xi - y[i])) <= 1e-10 * norm(x)) break;
    }
    return points;
  }

  /**
   * Steps that keep k entries: entry i survives a step exactly if its score 2|cᵢ|(|yᵢ| + ε) exceeds ρ_ε, so ρ_ε is
   * the (k+1)-th largest score; ε falls on the way.
   */
  function runAtK(A, k) {
    const tau = smallestTau(A);
    const points = [{ x: leading(A).x, rhoEps: 0, eps: EPSILONS[0] }];
    for (const eps of EPSILONS) {
      for (let l = 0; l < STEPS_PER_EPSILON; l++) {
        const y = points[points.length - 1].x;
        const scores = times(A, y).map((ci, i) => 2 * Math.abs(ci + tau * y[i]) * (Math.abs(y[i]) + eps));
        const rhoEps = k < A.length ? scores.slice().sort((a, b) => b - a)[k] : 0;
        const x = step(A, tau, y, rhoEps, eps);
        if (!x.some((xi) => xi !== 0)) break;
        points.push({ x, rhoEps, eps });
        if (norm(x.map((xi, i) => xi - y[i])) <= 1e-12) break;
      }
    }
    return points;
  }

  const supportOf = (x) => range(x.length).filter((i) => x[i] !== 0);

  /** The support of the largest k entries. */
  const largestEntries = (x, k) =>
    range(x.length).sort((i, j) => Math.abs(x[j]) - Math.abs(x[i])).slice(0, k).sort((i, j) => i - j);

  /** Make the best exchange of one variable for another as long as the value rises. */
  function exchange(A, support) {
    let best = onSupport(A, support);
    for (let before = null; before !== best; ) {
      before = best;
      for (const out of before.support) {
        for (const into of range(A.length).filter((i) => !before.support.includes(i))) {
          const tried = onSupport(A, [...before.support.filter((i) => i !== out), into].sort((i, j) => i - j));
          if (tried.value > best.value + 1e-12 * Math.abs(best.value)) best = tried;
        }
      }
    }
    return best;
  }

  // ------------------------------------------------------------------------------------------------- the bound

  /**
   * λmax(A − M) + k·max |M|, at least xᵀAx for every unit x with at most k nonzeros and every symmetric M:
   * xᵀAx = xᵀ(A − M)x + xᵀMx, and xᵀMx ≤ max |M|·‖x‖₁² ≤ k·max |M|. Rounding is added.
   */
  function boundOf(A, M, k) {
    const b = largest(M);
    const size = A.length * (largest(A) + b);
    return eigen(combine(A, M, (a, m) => a - m)).values[A.length - 1] + k * b + 64 * A.length ** 2 * UNIT_ROUNDOFF * size;
  }

  /** The nearest point of {v ≥ 0, Σv = radius}. */
  function ontoSimplex(v, radius) {
    const sorted = v.slice().sort((a, b) => b - a);
    let total = 0;
    let shift = 0;
    sorted.forEach((value, i) => {
      total += value;
      if (value - (total - radius) / (i + 1) > 0) shift = (total - radius) / (i + 1);
    });
    return v.map((value) => Math.max(0, value - shift));
  }

  /** The nearest matrix with Σ|Yᵢⱼ| ≤ radius. */
  function ontoL1Ball(Y, radius) {
    const sizes = Y.flat().map(Math.abs);
    if (sum(sizes) <= radius) return Y;
    const kept = ontoSimplex(sizes, radius);
    return Y.map((row, i) => row.map((value, j) => Math.sign(value) * kept[i * Y.length + j]));
  }

  /** The nearest X ⪰ 0 with tr X = 1. */
  function ontoSpectraplex(X) {
    const { values, vectors } = eigen(X);
    const weights = ontoSimplex(values, 1);
    return X.map((row, i) => row.map((_, j) => sum(weights.map((w, m) => (w > 0 ? w * vectors[m][i] * vectors[m][j] : 0)))));
  }

  /**
   * The dual of max tr(AX), X ⪰ 0, tr X = 1, Σ|Xᵢⱼ| ≤ k by the alternating direction method on X = Y. Every M on the
   * way gives a bound; the best one is returned.
   */
  function bound(A, k, { steps = 800, until = -Infinity } = {}) {
    const n = A.length;
    const scale = largest(A) || 1;
    const C = A.map((row) => row.map((a) => a / scale));
    const zero = A.map((row) => row.map(() => 0));
    let [Y, U, penalty] = [zero, zero, 1];
    let best = { M: zero, value: boundOf(A, zero, k), steps: 0 };
    for (let l = 1; l <= steps; l++) {
      const X = ontoSpectraplex(Y.map((row, i) => row.map((y, j) => y - U[i][j] + C[i][j] / penalty)));
      const ahead = combine(X, Y, (x, y) => 1.7 * x - 0.7 * y);
      const before = Y;
      Y = ontoL1Ball(combine(ahead, U, (x, u) => x + u), k);
      U = combine(U, combine(ahead, Y, (x, y) => x - y), (u, d) => u + d);
      if (l % 10) continue;
      for (const clip of [1, 0.97]) {
        const b = clip * largest(U);
        const M = U.map((row) => row.map((u) => scale * penalty * Math.max(-b, Math.min(b, u))));
        const value = boundOf(A, M, k);
        if (value < best.value) best = { M, value, steps: l };
      }
      const [primal, dual] = [norm(combine(X, Y, (x, y) => x - y).flat()), penalty * norm(combine(Y, before, (y, z) => y - z).flat())];
      if (best.value <= until || primal + dual < 1e-7) break;
      const factor = primal > 5 * dual ? 1.5 : dual > 5 * primal ? 1 / 1.5 : 1;
      if (factor !== 1 && l < 0.7 * steps) {
        penalty *= factor;
        U = U.map((row) => row.map((u) => u / factor));
      }
    }
    return best;
  }

  // ----------------------------------------------------------------------------------------------- the optimum

  /** All supports of size k out of a list, in order. */
  function* supportsOf(list, k, from = 0) {
    if (k === 0) yield [];
    else for (let i = from; i <= list.length - k; i++) for (const rest of supportsOf(list, k - 1, i + 1)) yield [list[i], ...rest];
  }

  const choose = (n, k) => (k < 0 || k > n ? 0 : Math.round(range(k).reduce((total, i) => (total * (n - i)) / (i + 1), 1)));

  /** The best of all supports of size k. A smaller support is never better, for λmax grows with the support. */
  function optimum(A, k) {
    let best = { value: -Infinity, support: [] };
    let tried = 0;
    for (const support of supportsOf(range(A.length), k)) {
      tried += 1;
      const values = eigen(part(A, support)).values;
      if (values[k - 1] > best.value) best = { value: values[k - 1], support };
    }
    return { ...onSupport(A, best.support), tried };
  }

  /** max over i in T of Aᵢᵢ and the k − 1 largest |Aᵢⱼ|, j in T: at least λmax of every k × k part (Gershgorin). */
  const rowSums = (A, T, k) =>
    Math.max(...T.map((i) => A[i][i] + sum(T.filter((j) => j !== i).map((j) => Math.abs(A[i][j])).sort((a, b) => b - a).slice(0, k - 1))));

  /**
   * Branch and bound: a node holds variables that are in the support, and those that may be. A node is closed if its
   * bound is not above the value to prove, or if few supports are left, which are tried.
   */
  function tree(A, k, M, value, most = 2000) {
    const b = largest(M);
    const D = combine(A, M, (a, m) => a - m);
    const slack = 1e-9 * Math.max(1, largest(A));
    const count = { nodes: 0 };
    const tried = (inside, open) => {
      let best = -Infinity;
      for (const rest of supportsOf(open, k - inside.length)) best = Math.max(best, leading(part(A, [...inside, ...rest])).value);
      return best;
    };
    function node(inside, open, label) {
      count.nodes += 1;
      const T = [...inside, ...open].sort((i, j) => i - j);
      const left = choose(open.length, k - inside.length);
      const dual = leading(part(D, T));
      const limit = Math.min(dual.value + k * b, rowSums(A, T, k));
      const here = { label, inside, open, left, bound: limit, children: [] };
      if (limit <= value + slack) return { ...here, closed: "bound" };
      if (left <= 3) return { ...here, bound: tried(inside, open), closed: "tried" };
      if (count.nodes >= most) return { ...here, closed: "open" };
      const weight = (i) => Math.abs(dual.x[T.indexOf(i)]);
      const i = open.reduce((best, j) => (weight(j) > weight(best) ? j : best), open[0]);
      const rest = open.filter((j) => j !== i);
      here.children = [node([...inside, i], rest, { variable: i, chosen: true }), node(inside, rest, { variable: i, chosen: false })];
      return here;
    }
    const root = node([], range(A.length), null);
    const leaves = (at) => (at.children.length ? at.children.flatMap(leaves) : [at]);
    const proved = Math.max(value, ...leaves(root).map((leaf) => leaf.bound));
    return { root, nodes: count.nodes, proved, complete: leaves(root).every((leaf) => leaf.closed !== "open") };
  }

  /** Everything for one matrix and one k; with rho, the run at that ρ̃ instead of the run that keeps k entries. */
  function solve(A, k, rho = null) {
    const points = rho === null ? runAtK(A, k) : runAtRho(A, rho);
    const last = points[points.length - 1].x;
    const support = rho === null ? largestEntries(last, k) : supportOf(last);
    const size = Math.max(1, support.length);
    const found = support.length ? onSupport(A, support) : null;
    const improved = found && exchange(A, support);
    const best = optimum(A, size);
    const relaxed = bound(A, size, { until: best.value });
    return { k: size, points, found, improved, optimum: best, bound: relaxed, tree: tree(A, size, relaxed.M, best.value), top: leading(A).value };
  }

  /** A sentence that says what is wrong with a text as a symmetric matrix of at most 13 columns; else its rows. */
  function readMatrix(text) {
    const lines = text.split(/\n/).map((line) => line.trim()).filter(Boolean);
    const rows = lines.map((line) => line.split(/[\s,;]+/).filter(Boolean).map(Number));
    const n = rows.length;
    if (!n) return { problem: "The field is empty. Paste a symmetric matrix, one row a line." };
    if (n > 13 || rows[0].length > 13) return { problem: `The matrix has ${Math.max(n, rows[0].length)} columns; at most 13 are allowed. Leave some variables out.` };
    const row = rows.findIndex((numbers) => numbers.length !== n);
    if (row >= 0) return { problem: `Row ${row + 1} has ${rows[row].length} numbers and there are ${n} rows: a square matrix is needed.` };
    const bad = rows.findIndex((numbers) => !numbers.every(Number.isFinite));
    if (bad >= 0) return { problem: `Row ${bad + 1} holds something that is not a finite number: ${lines[bad].slice(0, 40)}. Replace it by a number.` };
    if (n < 2) return { problem: "The matrix has one row; at least two variables are needed." };
    const scale = largest(rows);
    if (scale === 0) return { problem: "All entries are zero: there is nothing to maximise." };
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < i; j++) {
        if (Math.abs(rows[i][j] - rows[j][i]) > 1e-8 * scale) {
          return { problem: `The matrix is not symmetric: row ${i + 1}, column ${j + 1} is ${rows[i][j]}, row ${j + 1}, column ${i + 1} is ${rows[j][i]}.` };
        }
      }
    }
    return { A: rows.map((numbers, i) => numbers.map((a, j) => (a + rows[j][i]) / 2)) };
  }

  return { eigen, leading, onSupport, runAtK, runAtRho, supportOf, boundOf, bound, optimum, tree, solve, readMatrix, choose };
})();

if (typeof module !== "undefined") module.exports = SparseEigen;
