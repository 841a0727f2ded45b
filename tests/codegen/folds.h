/* Launches of kernels with folds on plain memory, in one stage or in two, cut anywhere. */
#ifndef WEFT_TESTS_CODEGEN_FOLDS_H
#define WEFT_TESTS_CODEGEN_FOLDS_H

#include "codegen/test_llvm.h"

struct fold_launch {
    weft__launch launch;
    char room[(TINY_OPERANDS + 1) * sizeof(weft__argument) + TINY_SCALARS * sizeof(uint64_t)];
};

/* A kernel with folds, the layouts of its operands and their memory: before, and after either
 * engine. */
struct fold_trial {
    struct tiny tiny;
    struct space space;
    unsigned folded; /* bit k: axis k */
    struct layout layout[TINY_OPERANDS];
    uint64_t scalars[TINY_SCALARS];
    char *before[TINY_OPERANDS], *after[2][TINY_OPERANDS], *buffer;
};

static inline struct space kept_space(const struct space *space, unsigned folded)
{
    struct space kept = *space;
    kept.count = 1;
    for (int k = 0; k < space->ndim; k++) {
        kept.size[k] = folded >> k & 1 ? 1 : space->size[k];
        kept.count *= kept.size[k];
    }
    return kept;
}

/* The layout of operands that have all axes, or only those that are kept: then the stride along the
 * others is 0. */
static inline struct layout fold_layout(const struct fold_trial *trial, int operand,
                                        enum layout_kind kind)
{
    const weft__kernel_operand *given = &trial->tiny.operands[operand];
    const struct space kept = kept_space(&trial->space, trial->folded);
    struct layout layout = layout_make(given->kept ? &kept : &trial->space,
                                       (int64_t)weft_dtype_size(given->dtype), kind);
    for (int k = 0; given->kept && k < trial->space.ndim; k++)
        if (trial->folded >> k & 1)
            layout.stride[k] = 0;
    return layout;
}

static inline void fold_drop_axis(weft__launch *launch, int axis)
{
    weft__argument *arguments = weft__launch_arguments(launch);
    launch->ndim--;
    launch->kept_ndim -= axis < launch->kept_ndim;
    for (int k = axis; k < launch->ndim; k++) {
        launch->size[k] = launch->size[k + 1];
        for (int i = 0; i < launch->arguments_count; i++)
            arguments[i].stride[k] = arguments[i].stride[k + 1];
    }
}

/* Whether axis k + 1 goes on where axis k steps, in every operand. */
static inline bool fold_goes_on(const weft__launch *launch, int k)
{
    const weft__argument *arguments = weft__launch_arguments_of(launch);
    for (int i = 0; i < launch->arguments_count - 1; i++)
        if (arguments[i].stride[k] != arguments[i].stride[k + 1] * launch->size[k + 1])
            return false;
    return k + 1 != launch->kept_ndim;
}

/* As launches are made: axes of one position are left out, and those that go on are one. */
static inline void fold_canonical(weft__launch *launch)
{
    for (int k = launch->ndim - 1; k >= 0; k--)
        if (launch->size[k] == 1)
            fold_drop_axis(launch, k);
    for (int k = launch->ndim - 2; k >= 0; k--)
        if (fold_goes_on(launch, k)) {
            launch->size[k + 1] *= launch->size[k];
            fold_drop_axis(launch, k);
        }
    if (launch->ndim == 0) {
        launch->ndim = launch->kept_ndim = 1;
        launch->size[0] = 1;
    }
}

static inline bool fold_has_index(const struct tiny *tiny)
{
    for (uint32_t k = 0; k < tiny->kernel.values_count; k++)
        if (tiny->values[k].op == WEFT__OP_index && tiny->values[k].slot != WEFT__INDEX_FOLDED)
            return true;
    return false;
}

static inline int64_t fold_length(const struct tiny *tiny)
{
    return weft__kernel_has_lanes(&tiny->kernel) ? 4096 : 64;
}

/* As many as chunks, or fewer: then the memory between the stages is just that of these. */
static inline int64_t fold_groups_of(const struct tiny *tiny, int64_t chunks)
{
    const int64_t groups = (int64_t)1 << random_below(6);
    return !weft__kernel_has_lanes(&tiny->kernel) && groups < chunks ? groups : chunks;
}

/* Everything but the stage. */
static inline void fold_launch_make(const struct fold_trial *trial, int engine,
                                    struct fold_launch *at)
{
    const struct tiny *tiny = &trial->tiny;
    weft__launch *launch = &at->launch;
    weft__argument *arguments = weft__launch_arguments(launch);
    memset(at, 0, sizeof *at);
    launch->ndim = trial->space.ndim;
    launch->arguments_count = (uint16_t)(tiny->kernel.operands_count + 1);
    launch->scalars_count = (uint16_t)tiny->kernel.scalars_count;
    launch->kept = launch->folded = 1;
    int axis = 0;
    for (int folded = 0; folded < 2; folded++)
        for (int k = 0; k < launch->ndim; k++) {
            if ((int)(trial->folded >> k & 1) != folded)
                continue;
            *(folded ? &launch->folded : &launch->kept) *= trial->space.size[k];
            launch->kept_ndim += !folded;
            launch->size[axis] = trial->space.size[k];
            for (uint32_t i = 0; i < tiny->kernel.operands_count; i++)
                arguments[i].stride[axis] = trial->layout[i].stride[k];
            axis++;
        }
    for (uint32_t i = 0; i < tiny->kernel.operands_count; i++)
        arguments[i].data = trial->after[engine][i] + trial->layout[i].first;
    arguments[tiny->kernel.operands_count].data = trial->buffer;
    memcpy(arguments + launch->arguments_count, trial->scalars,
           tiny->kernel.scalars_count * sizeof *trial->scalars);
    const int64_t length = fold_length(tiny);
    launch->chunks = (launch->folded + length - 1) / length;
    launch->groups = fold_groups_of(tiny, launch->chunks);
    launch->count = launch->kept * launch->folded;
    if (launch->count > 0 && !fold_has_index(tiny))
        fold_canonical(launch);
}

static inline void fold_stage(const weft__image *image, weft__launch *launch, weft__stage stage,
                              int64_t count, int64_t grain)
{
    launch->stage = (int32_t)stage;
    launch->count = count;
    run_pieces(image, launch, grain > 0 ? grain : count + 1);
}

/* In one stage or in two, in pieces of a grain; one piece if that is 0. */
static inline void fold_run_stages(const weft__image *image, weft__launch *launch, bool two,
                                   int64_t grain)
{
    if (!two) {
        fold_stage(image, launch, WEFT__STAGE_WHOLE, launch->kept, grain);
        return;
    }
    fold_stage(image, launch, WEFT__STAGE_CHUNKS, launch->groups * launch->kept, grain);
    fold_stage(image, launch, WEFT__STAGE_FINISH, launch->kept, grain);
}

static inline void fold_trial_drop(struct fold_trial *trial)
{
    for (int k = 0; k < TINY_OPERANDS; k++) {
        free(trial->before[k]);
        free(trial->after[0][k]);
        free(trial->after[1][k]);
    }
    free(trial->buffer);
}

static inline bool fold_trial_allocate(struct fold_trial *trial)
{
    int64_t chunks = trial->space.count / fold_length(&trial->tiny) + 2, bytes = 64;
    const struct space kept = kept_space(&trial->space, trial->folded);
    for (uint32_t k = 0; k < trial->tiny.kernel.values_count; k++)
        if (trial->tiny.values[k].op == WEFT__OP_fold)
            bytes += 8 * (chunks + kept.count) + 64;
    trial->buffer = memory_make(bytes);
    CHECK_OR(trial->buffer != NULL, false);
    for (uint32_t k = 0; k < trial->tiny.kernel.operands_count; k++) {
        trial->before[k] = memory_make(trial->layout[k].bytes);
        trial->after[0][k] = memory_make(trial->layout[k].bytes);
        trial->after[1][k] = memory_make(trial->layout[k].bytes);
        CHECK_OR(trial->before[k] && trial->after[0][k] && trial->after[1][k], false);
    }
    return true;
}

static inline void fold_trial_print(const struct fold_trial *trial, const weft__launch *launch)
{
    static struct trial shown;
    shown.tiny = trial->tiny;
    shown.tiny.kernel.values = shown.tiny.values;
    shown.tiny.kernel.operands = shown.tiny.operands;
    shown.space = trial->space;
    memcpy(shown.layout, trial->layout, sizeof shown.layout);
    trial_print(&shown);
    fprintf(stderr, "folded %x, launched %d axes (%d kept), stage %d, kept %lld, folded %lld\n",
            trial->folded, launch->ndim, launch->kept_ndim, launch->stage, (long long)launch->kept,
            (long long)launch->folded);
}

static inline void fold_begin(struct fold_trial *trial, int engine)
{
    for (uint32_t k = 0; k < trial->tiny.kernel.operands_count; k++)
        memcpy(trial->after[engine][k], trial->before[k], (size_t)trial->layout[k].bytes);
}

/* Whether one stage has room for the results of all chunks. */
static inline bool fold_has_room(const struct fold_trial *trial, const weft__launch *launch)
{
    return !weft__kernel_has_lanes(&trial->tiny.kernel) || launch->chunks <= 16;
}

/* The interpreter in one piece, in one stage or in two. */
static inline weft_status fold_interpret(struct fold_trial *trial)
{
    struct fold_launch at;
    weft__image image = {0};
    const weft_status status = weft__interpreter_compile(&trial->tiny.kernel, &image);
    if (status != WEFT_OK)
        return status;
    fold_begin(trial, 0);
    fold_launch_make(trial, 0, &at);
    fold_run_stages(&image, &at.launch, !fold_has_room(trial, &at.launch) || random_below(2), 0);
    image_release(&image);
    return WEFT_OK;
}

static inline weft_status fold_compile(const struct fold_trial *trial, const weft__launch *launch,
                                       weft__image *image)
{
    static int number;
    weft__effort effort = number++ % 2 ? WEFT__EFFORT_QUICK : WEFT__EFFORT_FULL;
    weft__object object = {0};
    weft_status status = weft__llvm_compile(&trial->tiny.kernel, launch, &effort, &object);
    if (status == WEFT_OK)
        status = weft__object_load(&object, image);
    weft__object_free(&object);
    return status;
}

/* Both engines leave the same bytes everywhere, also where they should write nothing: compiled
 * code, optimized every other time and as if it were for large arrays at random, in one stage and
 * in two, in pieces of `grain`. */
static inline bool fold_trial_run(struct fold_trial *trial, int64_t grain)
{
    struct fold_launch at;
    weft__image image = {0};
    CHECK_OR(fold_interpret(trial) == WEFT_OK, false);
    fold_launch_make(trial, 1, &at);
    CHECK_OR(fold_compile(trial, &at.launch, &image) == WEFT_OK, false);
    bool same = true;
    for (int two = !fold_has_room(trial, &at.launch); same && two < 2; two++) {
        fold_begin(trial, 1);
        weft__memory_set_streaming_bytes(random_below(2));
        fold_run_stages(&image, &at.launch, two, grain);
        weft__memory_set_streaming_bytes(0);
        for (uint32_t k = 0; same && k < trial->tiny.kernel.operands_count; k++) {
            same =
                memcmp(trial->after[0][k], trial->after[1][k], (size_t)trial->layout[k].bytes) == 0;
            if (!same) {
                fold_trial_print(trial, &at.launch);
                fprintf(stderr, "operand %u differs, grain %lld:", k, (long long)grain);
                for (int64_t b = 0; b < trial->layout[k].bytes; b++)
                    if (trial->after[0][k][b] != trial->after[1][k][b])
                        fprintf(stderr, " %lld: %02x/%02x", (long long)b,
                                (unsigned char)trial->after[0][k][b],
                                (unsigned char)trial->after[1][k][b]);
                fprintf(stderr, " (interpreter/compiled)\n");
            }
        }
    }
    image_release(&image);
    CHECK_OR(same, false);
    return true;
}

#endif
