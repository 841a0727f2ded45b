/* Graphs: a loop body that is recorded once and replayed with one call. */
#ifndef WEFT_GRAPH_H
#define WEFT_GRAPH_H

#include <weft/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Work that was recorded; reference counted. It holds the memory of all arrays that it uses. */
typedef struct weft_graph weft_graph;

/* From here to weft_graph_end, what this thread queues on the stream is recorded and not done:
 *
 *     weft_graph_begin(stream);
 *     weft(u -= 0.1f*laplacian(u), u);
 *     weft_graph *step = weft_graph_end(stream);
 *     for (int k = 0; k < 1000; k++)
 *         weft_graph_launch(step, stream);
 *
 * Arrays, shapes and C numbers are those of the recording, and random numbers are drawn once. New
 * arrays may be made; each replay computes them anew, in the same memory, and to read them before
 * the first is an error (WEFT_ERROR_RESULT). The same program works on every device; on CUDA a
 * replay is one launch.
 *
 * What cannot be recorded is an error of that call, and of weft_graph_end: calls that wait for a
 * result, work on another stream, host functions, events, copies from and to other devices or host
 * memory, another graph. */
WEFT_API weft_status weft_graph_begin(weft_stream *stream);
/* Ends the recording. NULL if something could not be recorded, with the record of the first. */
WEFT_API weft_graph *weft_graph_end(weft_stream *stream);
WEFT_API weft_graph *weft_graph_retain(weft_graph *graph);
/* Launches that are queued are still done. */
WEFT_API void weft_graph_release(weft_graph *graph);

/* Queues everything that was recorded, in its order, on a stream of the same device; after a reset
 * of the device it has to be recorded again. Any thread may call it, also several. */
WEFT_API weft_status weft_graph_launch(weft_graph *graph, weft_stream *stream);

/* The device's own handle (a CUgraph, for use in other graphs; the graph keeps it); an error where
 * the device has none. */
WEFT_API weft_status weft_graph_native(weft_graph *graph, void **handle);

#ifdef __cplusplus
}
#endif
#endif
