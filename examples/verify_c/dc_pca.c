/* Algorithm 2 (DC-PCA) in C, speaking the kit's JSON lines; no library but the standard one.
   Build:  cc -O2 -o dc_pca examples/verify_c/dc_pca.c -lm
   Try it: dcgev verify --cmd "./dc_pca" --level pca */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The text after "key": in one line of JSON whose keys are known and plain. */
static char *after(char *line, const char *key) {
    char quoted[32];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    char *found = strstr(line, quoted);
    if (!found) {
        fprintf(stderr, "no %s in the request\n", key);
        exit(1);
    }
    return found + strlen(quoted);
}

static double number(char *line, const char *key) { return strtod(after(line, key), NULL); }

/* Every number between a '[' and its matching ']', nested or not; returns how many. */
static int numbers(char *text, double *into, int room) {
    int depth = 0, count = 0;
    for (; *text; text++) {
        if (*text == '[') depth++;
        else if (*text == ']') { if (--depth == 0) break; }
        else if (depth && (*text == '-' || (*text >= '0' && *text <= '9'))) {
            char *end;
            double value = strtod(text, &end);
            if (into && count < room) into[count] = value;
            count++;
            text = end - 1;
        }
    }
    return count;
}

/* x <- soft(Ax, rho_eps w(x)/2)/norm with w = 1/(|x| + eps), until x no longer moves (ALG-S). */
static void dc_pca(const double *A, int n, double rho, double eps, double *x) {
    double r = rho / (log1p(eps) - log(eps)); /* log(1 + 1/eps) without overflow */
    double *z = malloc(n * sizeof *z);
    for (int step = 0; step < 5000; step++) {
        double square = 0, moved = 0;
        for (int i = 0; i < n; i++) {
            double c = 0;
            for (int j = 0; j < n; j++) c += A[i * n + j] * x[j];
            double left = fabs(c) - 0.5 * r / (fabs(x[i]) + eps);
            z[i] = left > 0 ? copysign(left, c) : 0;
            square += z[i] * z[i];
        }
        double norm = square > 0 ? sqrt(square) : 1; /* the printed 0/0 is x = 0 */
        for (int i = 0; i < n; i++) {
            double d = z[i] / norm - x[i];
            moved += d * d;
            x[i] = z[i] / norm;
        }
        if (sqrt(moved) <= 1e-11) break;
    }
    free(z);
}

static void answer(char *line) {
    int n = numbers(after(line, "x0"), NULL, 0);
    double *A = malloc((size_t)n * n * sizeof *A), *x = malloc(n * sizeof *x);
    numbers(after(line, "A"), A, n * n);
    numbers(after(line, "x0"), x, n);
    dc_pca(A, n, number(line, "rho"), number(line, "eps"), x);
    printf("{\"id\": %.0f, \"x\": [", number(line, "id"));
    for (int i = 0; i < n; i++) printf("%s%.17g", i ? ", " : "", x[i]);
    printf("]}\n");
    free(A);
    free(x);
}

int main(void) {
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        if (strstr(line, "\"hello\""))
            printf("{\"type\": \"hello\", \"protocol\": 1, \"name\": \"dc_pca.c\"}\n");
        else
            answer(line);
        fflush(stdout);
    }
    free(line);
    return 0;
}
