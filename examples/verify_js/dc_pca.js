// Algorithm 2 (DC-PCA) in JavaScript, speaking the kit's JSON lines.
// Try it:  dcgev verify --cmd "node examples/verify_js/dc_pca.js" --level pca
"use strict";
const readline = require("node:readline");

function product(A, x) {
  return A.map((row) => row.reduce((sum, a, j) => sum + a * x[j], 0));
}

// ρ_ε = ρ̃ / log(1 + 1/ε), without overflow for the smallest ε
function rhoEps(rho, eps) {
  return rho / (Math.log1p(eps) - Math.log(eps));
}

// x ← soft(Ax, ρ_ε w(x)/2) / ‖·‖ with w = 1/(|x| + ε), until x no longer moves (ALG-S)
function dcPca(A, rho, eps, x0) {
  const r = rhoEps(rho, eps);
  let x = x0.slice();
  for (let step = 0; step < 5000; step++) {
    const c = product(A, x);
    const z = c.map((ci, i) => Math.sign(ci) * Math.max(0, Math.abs(ci) - (0.5 * r) / (Math.abs(x[i]) + eps)));
    const norm = Math.hypot(...z);
    const next = norm > 0 ? z.map((zi) => zi / norm) : z; // the printed 0/0 is x = 0
    const moved = Math.hypot(...next.map((v, i) => v - x[i]));
    x = next;
    if (moved <= 1e-11) break;
  }
  return x;
}

function reply(message) {
  process.stdout.write(JSON.stringify(message) + "\n");
}

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line);
  if (message.type === "hello") {
    reply({ type: "hello", protocol: message.protocol, name: "dc_pca.js" });
  } else {
    reply({ id: message.id, x: dcPca(message.A, message.rho, message.eps, message.x0) });
  }
});
