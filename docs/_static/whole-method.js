// The whole method on one small matrix: d.c. run, vector, bound, optimum, gap, and the tree that proves the optimum.
// It needs sparse-eigen.js only. A page holds <div class="whole-method" data-problem='{"names": […], "A": [[…]], "k": 6}'></div>.
"use strict";

(() => {
  const PAUSE = 250; // milliseconds between two steps of "Play"
  const WIDTH = 720;

  function make(place, name, attributes = {}, words = "") {
    const vector = name === "svg" || (place instanceof SVGElement && place.namespaceURI.endsWith("svg"));
    const element = vector ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (words) element.textContent = words;
    place.append(element);
    return element;
  }
  const signed = (text) => text.replace("-", "−");
  const number = (value, digits = 5) => signed(Math.abs(value) >= 1e5 || (value !== 0 && Math.abs(value) < 1e-3) ? value.toExponential(3) : value.toFixed(digits));
  const listed = (words) => (words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`);

  // ---------------------------------------------------------------------------------------------- the sentences

  const same = (a, b) => Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(b));

  function sentences({ k, found, improved, optimum, bound, tree, points }, names, byRho) {
    const gap = bound.value - optimum.value;
    const run = byRho ? `The run at this ρ̃ ends after ${points.length - 1} steps with ${k} nonzeros` : `After ${points.length - 1} steps MM keeps ${k} variables`;
    const exact = same(found.value, optimum.value);
    const exchanged = exact || byRho ? "" : same(improved.value, optimum.value) ? " Exchanging one variable at a time leads to the optimum." : ` Exchanging one variable at a time leads to ${number(improved.value)}.`;
    return [
      `The best ${k} of ${names.length} variables: ${listed(optimum.support.map((i) => names[i]))}. Their value is ${number(optimum.value)}, and no other ${k} have a larger one (all ${optimum.tried.toLocaleString("en")} tried).`,
      `${run}; the best vector on them has the value ${number(found.value)}: ${exact ? "the optimum" : `${((100 * found.value) / optimum.value).toFixed(2)} % of the optimum`}.${exchanged}`,
      gap <= 1e-6 * Math.max(1, Math.abs(optimum.value))
        ? `The semidefinite relaxation proves ${number(bound.value)}: it is tight here.`
        : `The semidefinite relaxation proves that no vector with ${k} nonzeros has a value above ${number(bound.value)}: a gap of ${((100 * gap) / Math.abs(optimum.value)).toFixed(2)} %. ` +
          `Branch and bound closes it with ${tree.nodes} nodes${tree.complete ? "" : ", as far as they are computed here"}.`,
    ];
  }

  // ----------------------------------------------------------------------------------------------- the pictures

  /** Values on one axis: vectors are ticks below, bounds above, and the gap between them is shaded. */
  function drawInterval(svg, { found, optimum, bound, top }) {
    svg.replaceChildren();
    const [low, high] = [Math.min(found.value, optimum.value), Math.max(top, bound.value)];
    const width = high - low || 1;
    const at = (value) => 90 + ((value - low) / width) * (WIDTH - 180);
    make(svg, "rect", { class: "gap", x: at(optimum.value), y: 58, width: Math.max(1, at(bound.value) - at(optimum.value)), height: 24 });
    make(svg, "path", { class: "axis", d: `M40,70 H${WIDTH - 40}` });
    const reached = same(found.value, optimum.value);
    const marks = [
      ...(reached ? [] : [[found.value, "vector", "d.c. vector", 1]]),
      [optimum.value, "optimum", reached ? "d.c. vector = optimum" : "optimum", 1],
      [bound.value, "bound", "bound", -1],
      [top, "top", "λmax", -1],
    ];
    const taken = { 1: -1e9, "-1": -1e9 };
    const level = { 1: 0, "-1": 0 };
    for (const [value, kind, words, side] of marks) {
      const x = at(value);
      level[side] = x - taken[side] < 150 ? level[side] + 1 : 0;
      taken[side] = x;
      const y = side > 0 ? 104 + 17 * level[side] : 42 - 17 * level[side];
      make(svg, "path", { class: kind, d: `M${x},${side > 0 ? 60 : 80} V${side > 0 ? y - 13 : y + 4}` });
      const text = make(svg, "text", { class: kind, x, y, "text-anchor": "middle" }, `${words} ${number(value, 4)}`);
      const box = text.getBBox(); // a name wider than the margin moves inwards
      text.setAttribute("x", x + Math.max(0, -box.x) + Math.min(0, WIDTH - box.x - box.width));
    }
  }

  /** The entries of x as bars, one row a variable. */
  function drawBars(svg, x, names) {
    svg.replaceChildren();
    const [low, high] = [Math.min(0, ...x), Math.max(0, ...x)];
    const scale = (WIDTH - 240) / (high - low || 1);
    const zero = 150 - scale * low;
    x.forEach((xi, i) => {
      const y = 22 * i;
      make(svg, "text", { class: xi ? "" : "zero", x: 140, y: y + 15, "text-anchor": "end" }, names[i]);
      if (xi) make(svg, "rect", { class: xi < 0 ? "bar negative" : "bar", x: zero + scale * Math.min(0, xi), y: y + 3, width: Math.max(1, scale * Math.abs(xi)), height: 16 });
      make(svg, "text", { class: xi ? "" : "zero", x: WIDTH - 4, y: y + 15, "text-anchor": "end" }, xi ? number(xi, 4) : "0");
    });
    make(svg, "path", { class: "axis", d: `M${zero},0 V${22 * x.length}` });
    svg.setAttribute("viewBox", `0 0 ${WIDTH} ${22 * x.length + 4}`);
  }

  /** The tree from left to right in the order of its leaves; the words of a node are its tooltip and, on focus, below. */
  function drawTree(svg, root, names, say) {
    svg.replaceChildren();
    let leaves = 0;
    let deepest = 0;
    (function place(node, depth) {
      deepest = Math.max(deepest, depth);
      node.depth = depth;
      node.children.forEach((child) => place(child, depth + 1));
      node.column = node.children.length ? (node.children[0].column + node.children[1].column) / 2 : leaves++;
    })(root, 0);
    const row = Math.min(44, 320 / Math.max(1, deepest));
    const at = (node) => [20 + ((WIDTH - 40) * (node.column + 0.5)) / leaves, 16 + row * node.depth];
    const words = (node) => {
      const decided = node.inside.length ? `with ${listed(node.inside.map((i) => names[i]))}` : "all supports";
      const left = `${node.left.toLocaleString("en")} support${node.left === 1 ? "" : "s"}`;
      const end = { bound: "closed: the bound is not above the optimum", tried: "closed: these supports were tried", open: "not computed" }[node.closed] ?? "divided";
      return `${decided}, ${node.open.length} variables open, ${left}: at most ${number(node.bound)}; ${end}.`;
    };
    const radius = Math.max(2.5, Math.min(6, 300 / leaves));
    (function draw(node) {
      const [x, y] = at(node);
      for (const child of node.children) {
        const [cx, cy] = at(child);
        make(svg, "path", { class: child.label.chosen ? "edge with" : "edge without", d: `M${x},${y} L${cx},${cy}` });
        draw(child);
      }
      const dot = make(svg, "circle", { class: node.closed ?? "divided", cx: x, cy: y, r: radius, tabindex: 0, role: "img", "aria-label": words(node) });
      make(dot, "title", {}, words(node));
      for (const event of ["focus", "mouseenter", "click"]) dot.addEventListener(event, () => say(words(node)));
    })(root);
    svg.setAttribute("viewBox", `0 0 ${WIDTH} ${32 + row * deepest}`);
  }

  // --------------------------------------------------------------------------------------------------- the page

  /** ρ̃ for a place of the slider, 0 to 100: even steps of its logarithm, from 1/1000 to 60 times the largest |Aᵢⱼ|. */
  const priceAt = (place, A) => 1e-3 * 6e4 ** (place / 100) * Math.max(...A.flat().map(Math.abs));

  function mount(root) {
    const given = JSON.parse(root.dataset.problem);
    root.replaceChildren();
    const settings = make(root, "div", { class: "settings" });
    const slider = (words, attributes) => {
      const label = make(settings, "label");
      make(label, "span", {}, words);
      const input = make(label, "input", { type: "range", "aria-label": words, ...attributes });
      return { input, output: make(label, "output") };
    };
    const cardinality = slider("k nonzeros", { min: 1, max: given.A.length, value: given.k, name: "k" });
    const choice = make(settings, "label", { class: "choice" });
    const byRho = make(choice, "input", { type: "checkbox", name: "by-rho" });
    make(choice, "span", {}, "choose ρ̃ instead of k (Algorithm 2 as printed)");
    const price = slider("ρ̃", { min: 0, max: 100, value: 40, name: "rho", disabled: "" });
    const own = make(settings, "details");
    make(own, "summary", {}, "Your own matrix");
    const field = make(own, "textarea", { rows: 6, "aria-label": "matrix", placeholder: "a symmetric matrix of at most 13 columns, one row a line" });
    const take = make(own, "button", { type: "button" }, "Use it");
    const back = make(own, "button", { type: "button" }, "Pit props again");
    const problem = make(own, "p", { class: "problem", role: "alert" });

    const answer = make(root, "div", { class: "answer", "aria-live": "polite" });
    const interval = make(root, "svg", { class: "interval", viewBox: `0 0 ${WIDTH} 140`, role: "img", "aria-label": "vector, optimum and bounds on one axis" });
    make(root, "h4", {}, "The d.c. run, step by step");
    const run = make(root, "div", { class: "run" });
    const back1 = make(run, "button", { type: "button" }, "Start");
    const forward = make(run, "button", { type: "button" }, "Step");
    const play = make(run, "button", { type: "button" }, "Play");
    const place = make(run, "input", { type: "range", min: 0, value: 0, "aria-label": "step", name: "step" });
    const about = make(root, "p", { class: "about" });
    const bars = make(root, "svg", { class: "bars", role: "img", "aria-label": "the entries of x" });
    make(root, "h4", {}, "The tree that proves the optimum");
    const legend = make(root, "p", { class: "legend" });
    for (const [kind, words] of [["bound", "closed by the bound"], ["tried", "its supports were tried"], ["divided", "divided: left with the variable, right without it"]]) {
      const item = make(legend, "span");
      make(make(item, "svg", { viewBox: "0 0 12 12", width: 12, height: 12 }), "circle", { class: kind, cx: 6, cy: 6, r: 5 });
      item.append(` ${words} `);
    }
    const tree = make(root, "svg", { class: "tree" });
    const told = make(root, "p", { class: "told" }, "Point at a node to read its bound.");

    let state = { A: given.A, names: given.names, result: null, timer: null };

    function showStep() {
      const { points } = state.result;
      const l = Number(place.value);
      const { x, eps, rhoEps } = points[l];
      const nonzeros = x.filter((xi) => xi !== 0).length;
      about.textContent = l === 0 ? `Step 0 of ${points.length - 1}: the leading eigenvector.` : `Step ${l} of ${points.length - 1}: ε = ${eps < 1e-3 ? eps.toExponential(1) : eps}, ρ_ε = ${number(rhoEps, 4)}, ${nonzeros} nonzeros.`;
      drawBars(bars, x, state.names);
    }
    function stop() {
      clearInterval(state.timer);
      state.timer = null;
      play.textContent = "Play";
    }
    function solveAll() {
      stop();
      const { A, names } = state;
      const rho = byRho.checked ? priceAt(Number(price.input.value), A) : null;
      const result = SparseEigen.solve(A, Number(cardinality.input.value), rho);
      state.result = result;
      cardinality.output.textContent = byRho.checked ? "" : cardinality.input.value;
      price.output.textContent = rho === null ? "" : number(rho, 3);
      answer.replaceChildren();
      if (!result.found) {
        make(answer, "p", {}, "At this ρ̃ the run collapses: x = 0 minimises the surrogate, because the penalty outweighs A. Choose a smaller ρ̃.");
      } else {
        sentences(result, names, byRho.checked).forEach((words, i) => make(answer, "p", i === 0 ? { class: "verdict" } : {}, words));
        drawInterval(interval, result);
        drawTree(tree, result.tree.root, names, (words) => (told.textContent = words));
      }
      place.max = result.points.length - 1;
      place.value = place.max;
      showStep();
      root.dataset.result = JSON.stringify({ ...result, points: result.points.length, last: result.points[result.points.length - 1].x, tree: { nodes: result.tree.nodes, proved: result.tree.proved } });
    }

    cardinality.input.addEventListener("input", solveAll);
    price.input.addEventListener("input", solveAll);
    byRho.addEventListener("change", () => {
      price.input.disabled = !byRho.checked;
      cardinality.input.disabled = byRho.checked;
      solveAll();
    });
    take.addEventListener("click", () => {
      const read = SparseEigen.readMatrix(field.value);
      problem.textContent = read.problem ?? "";
      if (read.problem) return;
      use(read.A, read.A.map((_, i) => `x${i + 1}`), Math.min(Number(cardinality.input.value), read.A.length));
    });
    back.addEventListener("click", () => {
      problem.textContent = "";
      use(given.A, given.names, given.k);
    });
    function use(A, names, k) {
      state = { ...state, A, names };
      cardinality.input.max = A.length;
      cardinality.input.value = k;
      solveAll();
    }
    place.addEventListener("input", () => {
      stop();
      showStep();
    });
    const move = (l) => {
      place.value = l;
      showStep();
    };
    back1.addEventListener("click", () => {
      stop();
      move(0);
    });
    forward.addEventListener("click", () => {
      stop();
      move(Number(place.value) + 1);
    });
    play.addEventListener("click", () => {
      if (state.timer) return stop();
      if (place.value === place.max) move(0);
      play.textContent = "Pause";
      state.timer = setInterval(() => {
        move(Number(place.value) + 1);
        if (place.value === place.max) stop();
      }, PAUSE);
    });
    solveAll();
  }

  const start = () => document.querySelectorAll(".whole-method").forEach(mount);
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
