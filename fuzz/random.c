/* The kernels against naive.h without libFuzzer, for machines that have a C library and nothing else:
 *
 *   zig cc -target TARGET -O1 fuzz/random.c -o random && ./random [INPUTS [SEED]]
 *
 * Inputs are random, and choose as those of libFuzzer do (kernels.c). The output names the tiers that ran; the
 * fingerprints and the memory that grows have no tiers, and always run. A difference aborts the program. */
#include "kernels.c"

static uint64_t state;

static uint8_t random_byte(void) { /* xorshift64* */
    state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
    return (uint8_t)(state * UINT64_C(0x2545F4914F6CDD1D) >> 56);
}

int main(int argc, char **argv) {
    unsigned long inputs = argc > 1 ? strtoul(argv[1], 0, 10) : 20000, ran[KERNELS] = {0};
    static uint8_t data[HEAD + 512];
    state = (argc > 2 ? strtoull(argv[2], 0, 10) : 1) * UINT64_C(0x9E3779B97F4A7C15) | 1;
    LLVMFuzzerInitialize(&argc, &argv);
    for (unsigned long i = 0; i < inputs; i++) {
        size_t size = HEAD + (random_byte() < 128 ? random_byte() % 64u : random_byte() * 2u);
        for (size_t k = 0; k < size; k++) data[k] = random_byte();
        data[0] = (uint8_t)(i % KERNELS);
        if (LLVMFuzzerTestOneInput(data, size) == 0) ran[chosen.kernel]++;
    }
    for (int kernel = 0; kernel < KERNELS; kernel++)
        if (!ran[kernel]) wrong("random", "a kernel without an input");
    FOR_EACH_TIER(tier) printf("%s, ", tier->name);
    printf("fingerprint, memory: %lu inputs\n", inputs);
    return 0;
}
