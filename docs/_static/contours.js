// Level lines of a function on a square grid, by marching squares.
"use strict";

const Contours = (() => {
  /** The values of h on a grid with `count` points from −edge to edge in both directions; values[j][i] = h(xᵢ, xⱼ). */
  function sample(h, edge, count) {
    const ticks = Array.from({ length: count }, (_, i) => (edge * (2 * i - (count - 1))) / (count - 1));
    return { ticks, values: ticks.map((b) => ticks.map((a) => h([a, b]))) };
  }

  /** The polylines, lists of points [x₁, x₂], on which the sampled function has this level. */
  function lines(grid, level) {
    const links = new Map(); // from an edge of the grid to the edges that the line reaches next
    const connect = (from, to) => {
      for (const [a, b] of [[from, to], [to, from]]) {
        if (!links.has(a.key)) links.set(a.key, { point: a.point, next: [] });
        links.get(a.key).next.push(b.key);
      }
    };
    for (let j = 0; j + 1 < grid.ticks.length; j++) {
      for (let i = 0; i + 1 < grid.ticks.length; i++) {
        const crossed = crossings(grid, level, i, j);
        for (let e = 0; e + 1 < crossed.length; e += 2) connect(crossed[e], crossed[e + 1]);
      }
    }
    return walk(links);
  }

  /** Where the level crosses the four sides of a cell: no point, two, or four. */
  function crossings(grid, level, i, j) {
    const corners = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]];
    const found = [];
    corners.forEach((p, side) => {
      const q = corners[(side + 1) % 4];
      const [hp, hq] = [grid.values[p[1]][p[0]], grid.values[q[1]][q[0]]];
      if (hp < level === hq < level) return;
      const t = (level - hp) / (hq - hp);
      const along = (axis) => grid.ticks[p[axis]] + t * (grid.ticks[q[axis]] - grid.ticks[p[axis]]);
      found.push({ key: [p, q].map(String).sort().join(" "), point: [along(0), along(1)] });
    });
    return found;
  }

  /** Join the links to polylines, those with two ends first. */
  function walk(links) {
    const found = [];
    const ends = [...links.keys()].sort((a, b) => links.get(a).next.length - links.get(b).next.length);
    for (const end of ends) {
      const line = [];
      for (let key = end; key !== undefined && links.has(key); ) {
        const { point, next } = links.get(key);
        line.push(point);
        links.delete(key);
        key = next.find((other) => links.has(other));
        if (key === undefined && next.includes(end)) line.push(line[0]);
      }
      if (line.length > 1) found.push(line);
    }
    return found;
  }

  /** Round levels between the given quantiles of the values, about `count` of them. */
  function roundLevels(values, count, [low, high]) {
    const sorted = [...values].sort((a, b) => a - b);
    const [from, to] = [low, high].map((q) => sorted[Math.round(q * (sorted.length - 1))]);
    const unit = 10 ** Math.floor(Math.log10((to - from) / count));
    const step = unit * [1, 2, 5, 10].find((factor) => factor * unit * count >= to - from);
    const first = Math.ceil(from / step);
    return Array.from({ length: Math.max(0, Math.floor(to / step) - first + 1) }, (_, i) => (first + i) * step);
  }

  return { sample, lines, roundLevels };
})();

if (typeof module !== "undefined") module.exports = Contours;
