/* Check a proof file of max x'Ax s.t. x'Bx = 1 with a budget of nonzeros in x (docs/proof-files.md).

       cc -O2 -o check_proof check_proof.c -lm
       ./check_proof FILE [FILE OF MATRICES]

   The second file holds A, and B unless it is the identity, as little-endian float64, row by row. It is needed where
   the proof file does not contain them. Exit code 0: accepted; 1: refused, with the reason on one line.

   The theorem, and the proof of the rounding margin in `semidefinite`, are in dcgev_cvx/exact/check_proof.py. This
   program shares no code with it. It needs a machine with IEEE 754 doubles that stores their low byte first, and must
   not be compiled with -ffast-math. */

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if FLT_EVAL_METHOD != 0
#error "doubles must be computed as doubles: compile for SSE2 or a 64-bit machine"
#endif

#define UNIT 1.1102230246251565e-16 /* 2^-53 */

static void refuse(const char *reason, ...) {
    va_list rest;
    va_start(rest, reason);
    fputs("refused: ", stderr);
    vfprintf(stderr, reason, rest);
    fputc('\n', stderr);
    exit(1);
}

static void *room(size_t count, size_t size) {
    void *found = calloc(count ? count : 1, size);
    if (!found) refuse("out of memory");
    return found;
}

/* ---- SHA-256 (FIPS 180-4) ---- */

static uint32_t rotate(uint32_t x, int by) { return x >> by | x << (32 - by); }

/* The first 64 bits after the point of a root of a prime, as the standard defines its constants. */
static uint32_t fraction_of_root(int prime, int cube) {
    long double root = cube ? cbrtl(prime) : sqrtl(prime);
    return (uint32_t)((root - floorl(root)) * 4294967296.0L);
}

static void sha256(const unsigned char *data, size_t length, char *hex) {
    uint32_t K[64], H[8], W[64];
    for (int p = 2, found = 0; found < 64; p++) {
        int prime = 1;
        for (int d = 2; d * d <= p; d++) prime = prime && p % d;
        if (!prime) continue;
        if (found < 8) H[found] = fraction_of_root(p, 0);
        K[found++] = fraction_of_root(p, 1);
    }
    for (size_t block = 0; block <= (length + 8) / 64; block++) {
        for (int i = 0; i < 64; i++) { /* 0x80 and the number of bits follow the data */
            size_t at = 64 * block + i, end = 64 * ((length + 8) / 64 + 1);
            unsigned char byte = at < length ? data[at] : at == length ? 0x80 : 0;
            if (at >= end - 8) byte = (unsigned char)((uint64_t)length * 8 >> 8 * (end - 1 - at));
            W[i / 4] = W[i / 4] << 8 | byte;
        }
        for (int i = 16; i < 64; i++) {
            uint32_t a = W[i - 15], b = W[i - 2];
            W[i] = W[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3);
            W[i] += W[i - 7] + (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
        }
        uint32_t s[8];
        memcpy(s, H, sizeof s);
        for (int i = 0; i < 64; i++) {
            uint32_t t = s[7] + K[i] + W[i], u = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
            t += (rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25)) + ((s[4] & s[5]) ^ (~s[4] & s[6]));
            u += rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22);
            memmove(s + 1, s, 7 * sizeof *s);
            s[4] += t;
            s[0] = t + u;
        }
        for (int i = 0; i < 8; i++) H[i] += s[i];
    }
    for (int i = 0; i < 8; i++) sprintf(hex + 8 * i, "%08x", H[i]);
}

/* ---- the file: lines of a name and numbers ---- */

static char *at;  /* what is read next */
static char name[32];

static void peek(void) {
    const char *from = at + strspn(at, "\n ");
    size_t length = strcspn(from, "\n ");
    if (length > sizeof name - 1) length = sizeof name - 1;
    memcpy(name, from, length);
    name[length] = 0;
    if (!length) strcpy(name, "nothing");
}

static void expect(const char *wanted) {
    peek();
    if (strcmp(name, wanted)) refuse("'%s' expected, '%s' found", wanted, name);
    at += strspn(at, "\n ") + strlen(name);
}

/* The numbers up to the end of the line, and how many there are. */
static double *line(const char *wanted, int *count) {
    expect(wanted);
    size_t most = 0, end = strcspn(at, "\n");
    for (size_t i = 0; i < end; i++) most += at[i] == ' ';
    double *found = room(most, sizeof *found);
    char *stop = at + end;
    *count = 0;
    while (at < stop && at[strspn(at, " ")] != '\n') {
        at += strspn(at, " ");
        char *next;
        double value = strtod(at, &next);
        size_t length = strcspn(at, " \n");
        if (next != at + length || strspn(at, "+-.0123456789eE") != length || !isfinite(value) || (size_t)*count == most)
            refuse("numbers expected after '%s'", wanted);
        found[(*count)++] = value;
        at = next;
    }
    return found;
}

static double number(const char *wanted) {
    int count;
    double *found = line(wanted, &count), value = found[0];
    if (count != 1) refuse("'%s' has %d numbers instead of 1", wanted, count);
    free(found);
    return value;
}

/* Whole numbers from `low` to `high`; ascending positions if so asked. */
static int *whole(const char *wanted, int *count, int low, int high, int ascending) {
    double *found = line(wanted, count);
    int *values = room(*count, sizeof *values);
    for (int i = 0; i < *count; i++) {
        if (!(found[i] >= low && found[i] <= high) || found[i] != floor(found[i]))
            refuse("'%s' has a wrong number", wanted);
        values[i] = (int)found[i];
        if (ascending && i && values[i] <= values[i - 1]) refuse("'%s' must ascend", wanted);
    }
    free(found);
    return values;
}

/* ---- the problem, and the duals ---- */

static int n, groups, k;
static int *label, *count_of; /* the group of a variable, and how many of a group a support holds */
static double *A, *B, level;  /* scaled by powers of two: those of the variables, and of A and the bound */
static int *power, power_of_A, inexact;

static double scaled(double number, int by) {
    double found = ldexp(number, by);
    if (ldexp(found, -by) != number) inexact = 1; /* below the normal numbers */
    return found;
}

typedef struct { /* charges a and U for some variables; place[i] is the row of variable i, or -1 */
    int size, *place;
    double *a, *U;
} Dual;

static double *matrix(char which, const char *digest, FILE *other) {
    double *M = room((size_t)n * n, sizeof *M);
    char hex[65], wanted[] = {'m', 'a', 't', 'r', 'i', 'x', '_', which, 0};
    if (which == 'B' && !strcmp(digest, "identity")) {
        for (int i = 0; i < n; i++) M[(size_t)i * n + i] = 1.0;
        return M;
    }
    peek();
    if (!strcmp(name, wanted)) {
        int found;
        free(M);
        M = line(wanted, &found);
        if (found != n * n) refuse("%c has a wrong number of entries", which);
    } else if (!other || fread(M, sizeof *M, (size_t)n * n, other) != (size_t)n * n)
        refuse("%c is not in the file: give a file of matrices", which);
    for (size_t i = 0; i < (size_t)n * n; i++) M[i] += 0.0; /* -0 counts as 0 */
    sha256((unsigned char *)M, sizeof *M * n * n, hex);
    if (strcmp(hex, digest)) refuse("the proof is about another %c (its hash)", which);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (!isfinite(M[(size_t)i * n + j]) || M[(size_t)i * n + j] != M[(size_t)j * n + i])
                refuse("%c is not symmetric and finite", which);
    return M;
}

static Dual read_dual(void) {
    int m, found;
    double factor = number("dual");
    int *inner = whole("variables", &m, 0, n - 1, 1);
    double *given = line("charges", &found), *pays = NULL;
    if (found != m * m) refuse("a dual has a wrong number of charges");
    peek();
    int extended = !strcmp(name, "extended");
    if (extended) pays = line("extended", &found);
    if (extended && found != 1 + n - m) refuse("'extended' has %d numbers instead of %d", found, 1 + n - m);
    for (int i = 1; extended && i <= n - m; i++)
        if (!(pays[i] > 0.0)) refuse("an extended dual has wrong numbers");
    if (extended) pays[0] = ldexp(pays[0], power_of_A);
    Dual dual = {extended ? n : m, room(n, sizeof(int)), NULL, NULL};
    dual.a = room((size_t)dual.size * dual.size, sizeof(double));
    dual.U = room((size_t)dual.size * dual.size, sizeof(double));
    int *row = room(n, sizeof *row), *outer = room(n, sizeof *outer); /* of a variable, among the inner or the others */
    for (int i = 0; i < n; i++) row[i] = -1, dual.place[i] = extended ? i : -1;
    for (int i = 0; i < m; i++) row[inner[i]] = i, dual.place[inner[i]] = extended ? inner[i] : i;
    for (int i = 0, others = 1; i < n; i++)
        if (row[i] < 0) { /* pays[0] is the level */
            outer[i] = others++;
            if (extended) pays[outer[i]] = ldexp(pays[outer[i]], 2 * power[i] + power_of_A);
        }
    for (int i = 0; i < n; i++) {
        if (dual.place[i] < 0) continue;
        for (int j = 0; j < n; j++) {
            if (dual.place[j] < 0 || i == j) continue;
            double charge, S = extended ? pays[0] * B[(size_t)i * n + j] - A[(size_t)i * n + j] : 0.0;
            if (row[i] >= 0 && row[j] >= 0) charge = ldexp(given[(size_t)row[i] * m + row[j]], 2 * power[i] + power_of_A) * factor;
            else if (row[i] >= 0) charge = S * fabs(S) / pays[outer[j]]; /* what the other row leaves to pay */
            else if (row[j] >= 0) charge = S < 0 ? -pays[outer[i]] : pays[outer[i]];
            else charge = S;
            dual.a[(size_t)dual.place[i] * dual.size + dual.place[j]] = charge;
        }
    }
    for (int i = 0; i < dual.size; i++)
        for (int j = i + 1; j < dual.size; j++) {
            double *p = dual.a + (size_t)i * dual.size + j, *q = dual.a + (size_t)j * dual.size + i;
            double product = fabs(*p) * fabs(*q), root = product > 1e-300 ? sqrt(product) * (1.0 - 4.0 * UNIT) : 0.0;
            dual.U[(size_t)i * dual.size + j] = dual.U[(size_t)j * dual.size + i] = *p < 0.0 ? -root : root;
            *p = fabs(*p);
            *q = fabs(*q);
        }
    free(inner), free(given), free(pays), free(row), free(outer);
    return dual;
}

/* ---- the tests ---- */

/* S >= 0 for the m x m matrix S with moduli G of the summands. S is overwritten. */
static int semidefinite(double *S, const double *G, int m) {
    double largest = 0.0, rows = 0.0, trace = 0.0;
    for (int i = 0; i < m; i++) {
        double row = 0.0;
        for (int j = 0; j < m; j++) {
            row += G[i * m + j];
            if (!(G[i * m + j] < 1e250)) return 0; /* also for NaN */
            largest = fmax(largest, G[i * m + j]);
        }
        rows = fmax(rows, row);
        trace += S[i * m + i];
    }
    if (largest == 0.0) return 1; /* the zero matrix */
    if (largest <= 1e-250) return 0;
    double c = UNIT * ((m + 3) * trace + 8.0 * rows);
    for (int i = 0; i < m; i++) { /* Cholesky, row by row */
        for (int j = 0; j <= i; j++) {
            double sum = S[i * m + j] - (i == j ? c : 0.0);
            for (int h = 0; h < j; h++) sum -= S[i * m + h] * S[j * m + h];
            if (i == j && !(sum > 0.0)) return 0;
            S[i * m + j] = i == j ? sqrt(sum) : sum / S[j * m + j];
        }
    }
    return 1;
}

static double *S, *G, *r; /* room for one test */
static int *T;

/* level*B - A on the variables T, and the moduli of its summands. */
static void difference(int m) {
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) {
            double a = A[(size_t)T[i] * n + T[j]], b = level * B[(size_t)T[i] * n + T[j]];
            S[i * m + j] = b - a;
            G[i * m + j] = fabs(b) + fabs(a);
        }
}

static int descending(const void *p, const void *q) {
    double a = *(const double *)p, b = *(const double *)q;
    return (a < b) - (a > b);
}

/* What is left of a group's count, when the first p variables of T are in the support. */
static int left(int group, int p) {
    int rest = count_of[group];
    for (int i = 0; i < p; i++) rest -= label[T[i]] == group;
    return rest;
}

/* The largest sum of charges of the row of T[i] over its partners, of which one is in Z (inside[]) if there is a Z. */
static double sum_of(const Dual *dual, int i, int p, int m, const char *inside, int screens, double *row) {
    const double *a = dual->a + (size_t)dual->place[T[i]] * dual->size;
    double sum = 0.0, saved = HUGE_VAL;
    for (int j = 0; i >= p && j < p; j++) sum += a[dual->place[T[j]]];
    for (int g = 0; g < groups; g++) {
        int found = 0, most = left(g, p) - (i >= p && label[T[i]] == g), of_Z = 0;
        double best = 0.0;
        for (int j = p; j < m; j++)
            if (label[T[j]] == g) {
                row[found++] = j == i ? 0.0 : a[dual->place[T[j]]];
                if (inside[T[j]]) of_Z = 1, best = fmax(best, row[found - 1]);
            }
        if (most > found) most = found;
        if (most <= 0) continue;
        qsort(row, found, sizeof *row, descending);
        for (int j = 0; j < most; j++) sum += row[j];
        if (of_Z) saved = fmin(saved, fmax(0.0, row[most - 1] - best));
    }
    double raised = sum * (1.0 + 4.0 * (k + 2) * UNIT);
    return screens && !inside[T[i]] ? raised - fmin(saved, sum) : raised;
}

/* The matrix test of a family: the first p of the m variables T are in the support. */
static int bounded(const Dual *dual, int p, int m, const char *inside, int screens) {
    difference(m);
    double *row = room(m, sizeof *row);
    for (int i = 0; dual && i < m; i++)
        if (dual->place[T[i]] < 0) refuse("a dual lacks a variable");
    for (int i = 0; dual && i < m; i++) {
        r[i] = sum_of(dual, i, p, m, inside, screens, row);
        for (int j = 0; j < m; j++) {
            double U = i < p && j < p ? 0.0 : dual->U[(size_t)dual->place[T[i]] * dual->size + dual->place[T[j]]];
            S[i * m + j] -= U;
            G[i * m + j] += fabs(U);
        }
        S[i * m + i] -= r[i];
        G[i * m + i] += r[i];
    }
    free(row);
    return semidefinite(S, G, m);
}

/* Every support with the first `taken` variables of T, `rest` more of group g from F[from], then of later groups. */
static int listed(int taken, const int *F, int size, int g, int from, int rest) {
    if (rest == 0) {
        if (g + 1 < groups) return listed(taken, F, size, g + 1, 0, left(g + 1, taken));
        difference(taken);
        return semidefinite(S, G, taken);
    }
    for (int j = from; j < size; j++)
        if (label[F[j]] == g) {
            T[taken] = F[j];
            if (!listed(taken + 1, F, size, g, j + 1, rest - 1)) return 0;
        }
    return 1;
}

/* ---- the tree ---- */

typedef struct { /* a family: the first p of `size` variables are in its supports, the others are free */
    int p, size, *variables;
} Family;

static Family family(const int *variables, int p, int size) {
    Family made = {p, size, room(size, sizeof(int))};
    memcpy(made.variables, variables, size * sizeof(int));
    return made;
}

static long check_tree(const Dual *duals, int number_of_duals) {
    int capacity = 2 * n + 4, depth = 0, m;
    Family *stack = room(capacity, sizeof *stack);
    char *inside = room(n, 1);
    long step = 0;
    for (int i = 0; i < n; i++) T[i] = i;
    stack[depth++] = family(T, 0, n);
    free(line("tree", &m));
    if (m) refuse("'tree' has %d numbers instead of 0", m);
    while (depth) {
        Family now = stack[--depth];
        int found;
        step++;
        memcpy(T, now.variables, now.size * sizeof *T);
        peek();
        if (!strcmp(name, "split")) {
            int *v = whole("split", &found, 0, n - 1, 0), j = now.p;
            while (found == 1 && j < now.size && T[j] != *v) j++;
            if (found != 1 || j == now.size) refuse("step %ld (split): the variable is not free", step);
            memmove(T + j, T + j + 1, (now.size - j - 1) * sizeof *T);
            stack[depth++] = family(T, now.p, now.size - 1);
            memmove(T + now.p + 1, T + now.p, (now.size - now.p - 1) * sizeof *T);
            T[now.p] = *v;
            m = now.p + 1; /* variables of a group that is full are no longer free */
            for (int i = now.p + 1; i < now.size; i++)
                if (left(label[T[i]], now.p + 1) > 0) T[m++] = T[i];
            stack[depth++] = family(T, now.p + 1, m);
            free(v);
        } else if (!strcmp(name, "list")) {
            free(line("list", &found));
            if (found || !listed(now.p, now.variables + now.p, now.size - now.p, 0, 0, left(0, now.p)))
                refuse("step %ld (list): a support is not proved to stay below the bound", step);
        } else if (!strcmp(name, "bound") || !strcmp(name, "screen")) {
            int screens = name[0] == 's', most = n > number_of_duals ? n : number_of_duals;
            int *numbers = whole(screens ? "screen" : "bound", &found, 0, most, 0);
            memset(inside, 0, n);
            for (int i = 1; i < found; i++) {
                if (numbers[i] >= n || inside[numbers[i]]) refuse("step %ld (screen): impossible here", step);
                inside[numbers[i]] = 1;
            }
            if (!found || numbers[0] > number_of_duals || (screens ? found < 2 || now.p : found > 1))
                refuse("step %ld: there is no such dual, or it is impossible here", step);
            if (!bounded(numbers[0] ? duals + numbers[0] - 1 : NULL, now.p, now.size, inside, screens))
                refuse("step %ld (%s): a matrix is not proved to be positive semidefinite", step, name);
            for (int i = m = 0; i < now.size; i++)
                if (!inside[now.variables[i]]) T[m++] = now.variables[i];
            if (screens && m != now.size - (found - 1)) refuse("step %ld (screen): impossible here", step);
            if (screens) stack[depth++] = family(T, 0, m);
            free(numbers);
        } else
            refuse("step %ld: the tree is not complete ('%s')", step, name);
        free(now.variables);
    }
    if (at[strspn(at, "\n ")]) refuse("there are lines after the end of the tree");
    return step;
}

/* ---- the value, exactly: a sum is kept as parts that do not overlap (Shewchuk 1997) ---- */

static double parts[4096];
static int number_of_parts;

static void add(double term) {
    int kept = 0;
    for (int i = 0; i < number_of_parts; i++) {
        double sum = term + parts[i], was = sum - term, lost = (term - (sum - was)) + (parts[i] - was);
        if (lost != 0.0) parts[kept++] = lost;
        term = sum;
    }
    if (term != 0.0) parts[kept++] = term;
    number_of_parts = kept;
}

/* Add the product of four numbers, without parts that are too small to be sure of their digits. */
static void add_product(double first, double second, double third, double fourth) {
    double factors[] = {second, third, fourth}, product[8] = {first};
    for (int f = 0, m = 1; f < 3; f++, m *= 2)
        for (int i = 0; i < m; i++) {
            double rounded = product[i] * factors[f];
            int sure = fabs(rounded) > 1e-270 || product[i] == 0.0 || factors[f] == 0.0;
            product[m + i] = sure ? fma(product[i], factors[f], -rounded) : 0.0;
            product[i] = sure ? rounded : 0.0;
            if (!sure) inexact = 1;
        }
    for (int i = 0; i < 8; i++) add(product[i]);
}

/* Does x attain the value? A and B are scaled, x and the value are not yet. */
static void check_value(const int *support, int m, double *x, double value) {
    double largest = 0.0;
    for (int i = 0; i < m; i++) x[i] = scaled(x[i], -power[support[i]]), largest = fmax(largest, fabs(x[i]));
    for (int i = 0; i < m && largest > 0.0; i++) x[i] = scaled(x[i], -ilogb(largest) - 1);
    value = scaled(value, power_of_A);
    for (int sum = 0; sum < 2; sum++) { /* x'Bx > 0, then x'Ax - value x'Bx >= 0 */
        number_of_parts = 0;
        for (int i = 0; i < m; i++)
            for (int j = 0; j < m; j++) {
                size_t entry = (size_t)support[i] * n + support[j];
                if (sum) add_product(1.0, x[i], x[j], A[entry]);
                add_product(sum ? -value : 1.0, x[i], x[j], B[entry]);
            }
        if (inexact) add(-1e-260); /* more than all that was left out */
        double sign = number_of_parts ? parts[number_of_parts - 1] : 0.0;
        if (!(sum ? sign >= 0.0 : sign > 0.0)) refuse("the vector does not attain the value");
    }
}

/* Powers of two that bring the diagonal of B and the largest entry of A near one. */
static void scale(double bound) {
    int largest = -100000;
    power = room(n, sizeof *power);
    for (int i = 0; i < n; i++) power[i] = -(int)round(0.5 * log2(B[(size_t)i * n + i]));
    for (int i = 0; i < n; i++)
        for (int j = 0, exponent; j < n; j++) {
            if (frexp(A[(size_t)i * n + j], &exponent) == 0.0) continue;
            exponent += power[i] + power[j];
            if (exponent > largest) largest = exponent;
        }
    power_of_A = largest > -100000 ? -largest : 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            A[(size_t)i * n + j] = scaled(A[(size_t)i * n + j], power[i] + power[j] + power_of_A);
            B[(size_t)i * n + j] = scaled(B[(size_t)i * n + j], power[i] + power[j]);
        }
    level = ldexp(bound, power_of_A);
    if (bound != 0.0 && !(fabs(level) > 1e-250 && fabs(level) < 1e250))
        refuse("the bound is out of range beside A: use the checker in Python with --rational");
}

int main(int arguments, char **argument) {
    FILE *file = arguments > 1 ? fopen(argument[1], "rb") : NULL;
    FILE *other = arguments > 2 ? fopen(argument[2], "rb") : NULL;
    if (!file || (arguments > 2 && !other)) refuse("usage: check_proof FILE [FILE OF MATRICES]; a file cannot be read");
    size_t length = 0, size = 1 << 16;
    char *text = room(size, 1), hex[65], digest[2][65], *end;
    for (size_t part; (part = fread(text + length, 1, size - length - 1, file)); ) {
        length += part;
        if (size - length < 2 && !(text = realloc(text, size *= 2))) refuse("out of memory");
    }
    text[length] = 0;
    for (end = text + length; end > text && strncmp(end, "\nend ", 5); end--) {}
    if (strlen(text) != length || strncmp(text, "dcgev-proof 1\n", 14) || end == text)
        refuse("it is not a proof file, or it ends early");
    sha256((unsigned char *)text, end + 1 - text, hex);
    if (strncmp(end + 5, hex, 64) || strspn(end + 69, "\n ") != strlen(end + 69))
        refuse("damaged: the checksum differs");
    end[1] = 0;
    at = text + 14;

    int m, found;
    double size_of_problem = number("n");
    if (!(size_of_problem >= 1 && size_of_problem <= 20000)) refuse("n is out of range");
    n = (int)size_of_problem;
    for (int i = 0; i < 2; i++) {
        expect(i ? "B" : "A");
        at += strspn(at, " ");
        size_t characters = strcspn(at, "\n");
        if (characters > 64) refuse("a hash expected");
        memcpy(digest[i], at, characters);
        digest[i][characters] = 0;
        at += characters;
    }
    count_of = whole("counts", &groups, 1, n, 0);
    label = whole("labels", &found, 0, groups - 1, 0);
    if (found != n) refuse("'labels' has %d numbers instead of %d", found, n);
    for (int g = 0; g < groups; g++) {
        int members = 0;
        for (int i = 0; i < n; i++) members += label[i] == g;
        if (count_of[g] > members) refuse("counts and labels do not fit");
        k += count_of[g];
    }
    int *support = whole("support", &m, 0, n - 1, 1);
    double *x = line("x", &found), value = number("value"), bound = number("bound");
    A = matrix('A', digest[0], other);
    B = matrix('B', digest[1], other);
    S = room((size_t)n * n, sizeof *S);
    G = room((size_t)n * n, sizeof *G);
    r = room(n, sizeof *r);
    T = room(n + 1, sizeof *T);
    for (int i = 0; i < n; i++)
        if (!(B[(size_t)i * n + i] > 0.0)) refuse("B has no positive diagonal");
    if (found != m) refuse("'x' has %d numbers instead of %d", found, m);
    memcpy(T, support, m * sizeof *T);
    for (int g = 0; g < groups; g++)
        if (left(g, m) < 0) refuse("the support has more members than the counts allow");
    scale(bound);
    check_value(support, m, x, value);
    if (!(value <= bound)) refuse("the value exceeds the bound");

    int number_of_duals = 0;
    Dual *duals = NULL;
    for (peek(); !strcmp(name, "dual"); peek()) {
        if (!(duals = realloc(duals, ++number_of_duals * sizeof *duals))) refuse("out of memory");
        duals[number_of_duals - 1] = read_dual();
    }
    long steps = check_tree(duals, number_of_duals);
    printf("accepted: n = %d, at most %d nonzeros, %ld steps: ", n, k, steps);
    printf("no support exceeds %.17g; the vector attains %.17g\n", bound, value);
    return 0;
}
