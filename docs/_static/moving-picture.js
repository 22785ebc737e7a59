// The moving picture of MM: choose the start, step, play, and change ρ̃ and ε. It needs mm.js and contours.js only.
// A page holds <div class="moving-picture" data-program='{"A": …, "rho": …, "eps": …, "tau": …, "start": …}'></div>.
"use strict";

(() => {
  const MAX_STEPS = 200;
  const PAUSE = 450; // milliseconds between two steps of "Play"
  const STILL = 1e-6; // a step shorter than this counts as none

  // ---------------------------------------------------------------- elements

  function make(document_, name, attributes, children) {
    const element = document_(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  }
  const html = (name, attributes = {}, ...children) => make((tag) => document.createElement(tag), name, attributes, children);
  const svg = (name, attributes = {}, ...children) =>
    make((tag) => document.createElementNS("http://www.w3.org/2000/svg", tag), name, attributes, children);

  const signed = (text) => text.replace("-", "−");
  const fixed = (value, digits = 4) => signed((Math.abs(value) < 0.5 * 10 ** -digits ? 0 : value).toFixed(digits));
  const vector = (x, digits = 3) => (x.length === 1 ? fixed(x[0], digits) : `(${x.map((xi) => fixed(xi, digits)).join(", ")})`);

  const raised = (number) => [...String(number)].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]).join("");

  const MARKS = {
    start: ([a, b]) => svg("circle", { class: "start", cx: a, cy: b, r: 9 }),
    y: ([a, b]) => svg("circle", { class: "y", cx: a, cy: b, r: 5.5 }),
    argmin: ([a, b]) => svg("path", { class: "argmin", d: `M${a - 7},${b - 6} h14 l-7,12 z` }),
    lower: ([a, b]) => svg("rect", { class: "lower", x: a - 5, y: b - 5, width: 10, height: 10 }),
    iterate: ([a, b]) => svg("circle", { class: "iterate", cx: a, cy: b, r: 3 }),
    line: (kind) => ([a, b]) => svg("path", { class: kind, d: `M${a - 12},${b} h24` }),
  };

  let clips = 0;
  /** The elements, cut off outside of a shape. */
  function clipped(shape, ...elements) {
    const id = `moving-picture-clip-${++clips}`;
    return svg("g", { "clip-path": `url(#${id})` }, svg("clipPath", { id }, shape), ...elements);
  }
  const polyline = (kind, points) => svg("path", { class: kind, d: `M${points.map((p) => p.map((v) => v.toFixed(2)).join(",")).join("L")}` });
  const text = (kind, [a, b], words, anchor = "middle") => svg("text", { class: kind, x: a, y: b, "text-anchor": anchor }, words);

  // ---------------------------------------------------------------- one variable

  const LINE = {
    size: [440, 330],
    box: { left: 46, right: 430, top: 10, bottom: 290 },
    legend: [
      ["f(x)", MARKS.line("f")],
      ["g(x, y)", MARKS.line("g")],
      ["start", MARKS.start],
      ["y: g touches f", MARKS.y],
      ["x: minimum of g", MARKS.argmin],
      ["f at x", MARKS.lower],
      ["earlier steps", MARKS.iterate],
    ],

    /** The scales of a state: from (x, value) to the picture, and back from the picture to x. */
    scales(program) {
      const { left, right, top, bottom } = LINE.box;
      const values = LINE.grid.map((x) => program.f([x]));
      const [low, high] = [Math.min(...values), Math.max(...values)];
      const [from, to] = [low - 0.12 * (high - low), high + 0.55 * (high - low)];
      const across = (x) => left + ((right - left) * (x + 1.06)) / 2.12;
      const up = (value) => bottom - ((bottom - top) * (value - from)) / (to - from);
      const back = ([a]) => [Math.max(-1, Math.min(1, (2.12 * (a - left)) / (right - left) - 1.06))];
      return { at: (x, value) => [across(x), up(value)], back, ticks: Contours.roundLevels([from, to], 6, [0, 1]) };
    },
    grid: Array.from({ length: 401 }, (_, i) => (i - 200) / 200),

    draw(program, path, x) {
      const { at, ticks } = LINE.scales(program);
      const { left, right, top, bottom } = LINE.box;
      const frame = { x: left, y: top, width: right - left, height: bottom - top };
      const y = path[path.length - 1];
      const curve = (kind, h) => polyline(kind, LINE.grid.map((t) => at(t, h([t]))));
      return [
        ...ticks.map((value) => text("tick", [left - 6, at(0, value)[1] + 4], signed(String(+value.toFixed(6))), "end")),
        ...[-1, -0.5, 0, 0.5, 1].map((value) => text("tick", [at(value, 0)[0], bottom + 18], signed(String(value)))),
        text("tick", [(left + right) / 2, bottom + 36], "x"),
        ...[-1, 1].map((edge) => polyline("omega", [[at(edge, 0)[0], top], [at(edge, 0)[0], bottom]])),
        svg("rect", { class: "frame", ...frame }),
        clipped(svg("rect", frame), curve("f", program.f), curve("g", (t) => program.g(t, y))),
        polyline("drop", [at(x[0], program.g(x, y)), at(x[0], program.f(x))]),
        ...path.slice(0, -1).map((z) => MARKS.iterate(at(z[0], program.f(z)))),
        MARKS.start(at(path[0][0], program.f(path[0]))),
        MARKS.y(at(y[0], program.f(y))),
        MARKS.lower(at(x[0], program.f(x))),
        MARKS.argmin(at(x[0], program.g(x, y))),
      ];
    },
    handle: (program, start) => LINE.scales(program).at(start[0], program.f(start)),
    back: (program, point) => LINE.scales(program).back(point),
  };

  // ---------------------------------------------------------------- two variables

  const PLANE = {
    size: [440, 440],
    legend: [
      ["level lines of f", MARKS.line("f")],
      ["level lines of g(·, y)", MARKS.line("g")],
      ["boundary of Ω", MARKS.line("omega")],
      ["start", MARKS.start],
      ["iterates", MARKS.iterate],
      ["y", MARKS.y],
      ["x: minimum of g over Ω", MARKS.argmin],
    ],
    at: ([a, b]) => [220 + 185 * a, 215 - 185 * b],
    back(program, [a, b]) {
      const x = [(a - 220) / 185, (215 - b) / 185];
      const length = Math.max(1, MM.norm(x));
      return x.map((xi) => xi / length);
    },
    handle: (program, start) => PLANE.at(start),

    draw(program, path, x) {
      const y = path[path.length - 1];
      const labels = [];
      const lines = [];
      for (const [kind, h, quantiles] of [["f", program.f, [0.01, 0.97]], ["g", (z) => program.g(z, y), [0, 0.9]]]) {
        const grid = Contours.sample(h, 1.05, 85);
        const values = grid.values.flatMap((row, j) => row.filter((_, i) => Math.hypot(grid.ticks[i], grid.ticks[j]) <= 1));
        for (const level of Contours.roundLevels(values, 12, quantiles)) {
          for (const line of Contours.lines(grid, level)) {
            lines.push(polyline(`level ${kind}`, line.map(PLANE.at)));
            const place = PLANE.label(line, labels, kind);
            if (place) labels.push({ kind, place, words: signed(String(+level.toFixed(6))) });
          }
        }
      }
      const [cx, cy] = PLANE.at([0, 0]);
      return [
        clipped(svg("circle", { cx, cy, r: 185 }), ...lines),
        ...labels.map(({ kind, place, words }) => text(`label ${kind}-label`, [place[0], place[1] + 4], words)),
        svg("circle", { class: "omega", cx, cy, r: 185 }),
        ...[-1, 0, 1].map((v) => text("tick", [PLANE.at([v, 0])[0], 422], signed(String(v)))),
        ...[-1, 0, 1].map((v) => text("tick", [18, PLANE.at([0, v])[1] + 4], signed(String(v)))),
        text("tick", PLANE.at([0.5, -1.12]), "x₁"),
        text("tick", [18, PLANE.at([0, 0.5])[1] + 4], "x₂"),
        polyline("trail", [...path, x].map(PLANE.at)),
        ...path.map((z) => MARKS.iterate(PLANE.at(z))),
        MARKS.start(PLANE.at(path[0])),
        MARKS.y(PLANE.at(y)),
        MARKS.argmin(PLANE.at(x)),
      ];
    },

    /** A place for the label of a level line: well inside Ω, and away from the labels that are there. */
    label(line, labels, kind) {
      const side = kind === "f" ? 1 : -1; // the labels of f on the right, those of g on the left
      const free = line.filter(([a, b]) => Math.hypot(a, b) < 0.9 && a * side > 0.1 && line.length > 12).map(PLANE.at);
      const apart = (p) => Math.min(60, ...labels.map((other) => Math.hypot(p[0] - other.place[0], 1.6 * (p[1] - other.place[1]))));
      const best = free.reduce((one, other) => (one && apart(one) >= apart(other) ? one : other), undefined);
      return best && apart(best) > 38 ? best : undefined;
    },
  };

  // ---------------------------------------------------------------- the controls

  function slider(name, range, show, onInput) {
    const input = html("input", { type: "range", ...range, "aria-label": name });
    const output = html("output");
    input.addEventListener("input", () => onInput(Number(input.value)));
    const set = (value) => {
      input.value = value;
      output.textContent = show(Number(input.value));
      input.setAttribute("aria-valuetext", output.textContent);
    };
    return { row: html("label", {}, html("span", {}, name), input, output), set };
  }

  function button(words, title, onClick) {
    const found = html("button", { type: "button", title }, words);
    found.addEventListener("click", onClick);
    return found;
  }

  const swatch = ([words, mark]) => html("li", {}, svg("svg", { viewBox: "0 0 28 20", width: 28, height: 20, "aria-hidden": "true" }, mark([14, 10])), words);

  function table(program, path) {
    const head = ["l", "x⁽ˡ⁾", "f(x⁽ˡ⁾)", "g(x⁽ˡ⁾, y)"].map((words) => html("th", { scope: "col" }, words));
    const rows = path.map((x, l) => {
      const g = l === 0 ? "" : fixed(program.g(x, path[l - 1]));
      return html("tr", {}, ...[String(l), vector(x), fixed(program.f(x)), g].map((words) => html("td", {}, words)));
    });
    return html("table", {}, html("thead", {}, html("tr", {}, ...head)), html("tbody", {}, ...rows));
  }

  // ---------------------------------------------------------------- the picture

  function mount(root) {
    const given = JSON.parse(root.dataset.program);
    const kind = given.start.length === 1 ? LINE : PLANE;
    const state = { start: given.start, steps: given.steps, rho: given.rho, eps: given.eps };
    let timer = null;

    const picture = svg("svg", { viewBox: `0 0 ${kind.size.join(" ")}`, role: "img" });
    const status = html("p", { class: "status", "aria-live": "polite" });
    const rows = html("div", { class: "rows", tabindex: "0" });
    const starts = state.start.map((_, i) =>
      slider(state.start.length === 1 ? "start" : `start x${"₁₂"[i]}`, { min: -1, max: 1, step: 0.01 }, (v) => fixed(v, 2), (value) => {
        state.start = state.start.map((old, j) => (i === j ? value : old));
        const length = MM.norm(state.start);
        if (length > 1) {
          const left = Math.sqrt(Math.max(0, 1 - value * value)); // keep the coordinate that moves
          state.start = state.start.map((old, j) => (i === j ? value : Math.sign(old) * left));
        }
        draw();
      }),
    );
    const rho = slider("ρ̃ (rho)", { min: 0, max: given.rhoMax, step: 0.05 }, (v) => v.toFixed(2), (v) => update({ rho: v }));
    const eps = slider("ε (eps)", { min: -3, max: 0, step: 0.05 }, (v) => (10 ** v).toPrecision(2), (v) => update({ eps: 10 ** v }));
    const play = button("Play", "Step until nothing moves", () => (timer ? pause() : begin()));
    const buttons = html(
      "div",
      { class: "buttons" },
      button("Step", "y ← x: take the minimum of g as the next y", () => (pause(), step())),
      play,
      button("Reset", "Go back to the start", () => (pause(), update({ steps: 0 }))),
    );

    const program = () => MM.program(given.A, state.rho, state.eps, given.tau);
    function update(change) {
      Object.assign(state, change);
      draw();
    }
    function step() {
      update({ steps: Math.min(state.steps + 1, MAX_STEPS) });
    }
    function pause() {
      clearInterval(timer);
      timer = null;
      play.textContent = "Play";
    }
    function begin() {
      timer = setInterval(() => (moves() && state.steps < MAX_STEPS ? step() : pause()), PAUSE);
      play.textContent = "Pause";
    }
    function moves() {
      const path = program().iterates(state.start, state.steps + 1);
      const [y, x] = path.slice(-2);
      return MM.norm(x.map((xi, i) => xi - y[i])) > STILL;
    }

    function draw() {
      const p = program();
      const path = p.iterates(state.start, state.steps);
      const y = path[path.length - 1];
      const x = p.argmin(y);
      picture.replaceChildren(...kind.draw(p, path, x), handle(kind.handle(p, state.start)));
      const words = moves()
        ? `y = x⁽${raised(state.steps)}⁾ = ${vector(y)}, f(y) = ${fixed(p.f(y))}. The next point is x = ${vector(x)}, with f(x) = ${fixed(p.f(x))} ≤ g(x, y) = ${fixed(p.g(x, y))} ≤ f(y).`
        : `y = x⁽${raised(state.steps)}⁾ = ${vector(y)} is a fixed point: the minimum of g(·, y) is y itself.`;
      status.textContent = words;
      picture.setAttribute("aria-label", words);
      rows.replaceChildren(table(p, path));
      rows.scrollTop = rows.scrollHeight;
      starts.forEach((one, i) => one.set(state.start[i]));
      rho.set(state.rho);
      eps.set(Math.log10(state.eps));
    }

    // dragging: the handle lies on the start, a little larger so that a finger finds it
    const grip = svg("circle", { class: "handle", r: 20 });
    const handle = ([a, b]) => {
      grip.setAttribute("cx", a);
      grip.setAttribute("cy", b);
      return grip;
    };
    function moveStart(event) {
      const place = new DOMPoint(event.clientX, event.clientY).matrixTransform(picture.getScreenCTM().inverse());
      update({ start: kind.back(program(), [place.x, place.y]) });
    }
    let dragging = false;
    grip.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      dragging = true;
    });
    window.addEventListener("pointermove", (event) => dragging && moveStart(event));
    for (const end of ["pointerup", "pointercancel"]) window.addEventListener(end, () => (dragging = false));

    rho.row.classList.add("rho");
    eps.row.classList.add("eps");
    starts.forEach((one) => one.row.classList.add("start-row"));
    root.append(
      html("div", { class: "view" }, picture, html("ul", { class: "legend" }, ...kind.legend.map(swatch))),
      html("div", { class: "panel" }, ...starts.map((one) => one.row), rho.row, eps.row, buttons, status, rows),
    );
    draw();
  }

  document.addEventListener("DOMContentLoaded", () => document.querySelectorAll(".moving-picture").forEach(mount));
})();
