// Functions of OpenCV 4 and ONNX Runtime for SidelightVision: cascades, optical flow, segmentation,
// and neural networks.
//
// The functions exist only if the package is built with the trait Vision, which defines
// SIDELIGHT_VISION. Every function that can fail catches all C++ exceptions and returns NULL or -1;
// cvision_last_error() then returns the reason.
//
// Positions are OpenCV's: (0, 0) is the centre of the top left pixel, except for boxes, which refer
// to the corners of pixels. Two threads must not use a handle at the same time.
#ifndef CVISION_H
#define CVISION_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Returns the message of this thread's last failure. The next failure on this thread overwrites
/// it.
const char *cvision_last_error(void);

// --- Cascades ------------------------------------------------------------------------------------

/// A cascade classifier.
typedef struct cvision_cascade cvision_cascade;

/// A box that a cascade reports, in pixels of the window, and the number of overlapping detections
/// that it combines.
typedef struct {
  int x, y, width, height;
  int support;
} cvision_box;

/// A search with a cascade.
typedef struct {
  /// Samples of the picture, in rows without padding.
  const uint8_t *samples;
  int width, height;
  /// The size of the window in pixels.
  int window_width, window_height;
  /// The 2x3 matrix from positions in the window to positions in the picture. Pixels outside the
  /// picture repeat the pixels at its edge.
  double transform[6];
  /// Whether the window is the picture. The transform is then ignored.
  int is_whole;
  /// The histogram of a window with a lower mean is equalized.
  double equalize_below;
  /// The ratio of successive sizes, greater than 1.
  double scale;
  /// The minimum number of overlapping detections.
  int neighbors;
  /// The range of sizes in pixels. A `most` of 0 disables the maximum.
  int least, most;
} cvision_search;

/// Reads a cascade from a file. Returns NULL on failure.
cvision_cascade *cvision_cascade_open(const char *path);

/// Releases a cascade. NULL is ignored.
void cvision_cascade_close(cvision_cascade *cascade);

/// Stores at most `capacity` boxes. Returns their number, or -1.
int cvision_cascade_find(
    cvision_cascade *cascade, const cvision_search *search, cvision_box *boxes, int capacity);

// --- Optical flow --------------------------------------------------------------------------------

/// A picture at several resolutions, with its derivatives.
typedef struct cvision_pyramid cvision_pyramid;

/// Prepares a picture for optical flow. `level` is the number of its coarsest level, where 0 is the
/// picture itself. Returns NULL on failure.
cvision_pyramid *cvision_pyramid_create(
    const uint8_t *samples, int width, int height, int window, int level);

/// Releases a pyramid. NULL is ignored.
void cvision_pyramid_destroy(cvision_pyramid *pyramid);

/// Follows points (x and y alternate) from one picture to another of the same size, with the method
/// of Lucas and Kanade, and back again.
///
/// Stores the new points in `moved`. Stores 1 in `found` if a point's way back ends less than
/// `tolerance` pixels from the start, else 0. Returns 0, or -1.
int cvision_flow(
    const cvision_pyramid *from, const cvision_pyramid *to, const float *points, int count,
    double tolerance, float *moved, uint8_t *found);

/// Finds the position of every cell's content in an earlier picture of the same size, with the
/// dense flow of Kroeger et al. 2016 (DIS). Cells are squares of `cell` pixels, from the top left;
/// cells at the right and lower edges may be cut. Both sides are at least 32 pixels.
///
/// Stores the distance to that position (x and y alternate), and the mean level there, per cell.
/// Returns 0, or -1.
int cvision_motion(
    const uint8_t *earlier, const uint8_t *picture, int width, int height, int cell,
    float *offsets, float *levels);

/// Stores at most `capacity` corners (x and y alternate) within the ellipse that touches the sides
/// of a box, the strongest first. The corners are at least `distance` pixels apart. Returns their
/// number, or -1.
int cvision_corners(
    const uint8_t *samples, int width, int height, int x, int y, int box_width, int box_height,
    double distance, float *points, int capacity);

// --- Segmentation --------------------------------------------------------------------------------

/// Labels of pixels.
enum {
  cvision_background = 0,
  cvision_person = 1,
  cvision_perhaps_background = 2,
  cvision_perhaps_person = 3
};

/// Divides a picture of three channels into person and background by their colours, using GrabCut.
/// Labels that are not certain are changed in place; both certain or uncertain labels of person and
/// background must occur. Returns 0, or -1.
int cvision_segment(
    const uint8_t *samples, int width, int height, uint8_t *labels, int iterations);

// --- Neural networks -----------------------------------------------------------------------------

enum { cvision_max_rank = 8 };

/// An array of floats in row-major order.
typedef struct {
  const char *name;
  const float *values;
  int rank;
  int64_t dimensions[cvision_max_rank];
} cvision_tensor;

/// A network that OpenCV's DNN module runs.
typedef struct cvision_net cvision_net;

/// Reads an ONNX model. The bytes are copied. Returns NULL on failure.
cvision_net *cvision_net_open(const uint8_t *bytes, size_t count);

/// Releases a network. NULL is ignored.
void cvision_net_close(cvision_net *net);

/// Computes the cost of a run: the bytes of all intermediate results, and floating-point
/// operations. Ignores the values of the inputs. Returns 0, or -1 if the shapes do not fit.
int cvision_net_cost(
    const cvision_net *net, const cvision_tensor *inputs, int count, int64_t *bytes,
    int64_t *operations);

/// Runs a network. Returns 0, or -1.
int cvision_net_run(
    cvision_net *net, const cvision_tensor *inputs, int input_count, const char *const *outputs,
    int output_count);

/// Describes an output of the last run. Its values are valid until the next run. Returns 0, or -1.
int cvision_net_output(const cvision_net *net, int index, cvision_tensor *output);

/// ONNX Runtime, from a shared library that the operator names.
typedef struct cvision_runtime cvision_runtime;

/// A network that ONNX Runtime runs.
typedef struct cvision_session cvision_session;

/// Loads the shared library of ONNX Runtime. It stays loaded until the process ends. Returns NULL
/// on failure.
cvision_runtime *cvision_runtime_open(const char *path);

/// Reads an ONNX model. The bytes are copied. Returns NULL on failure.
cvision_session *cvision_session_open(
    cvision_runtime *runtime, const uint8_t *bytes, size_t count);

/// Releases a network. NULL is ignored.
void cvision_session_close(cvision_session *session);

/// Runs a network. Returns 0, or -1.
int cvision_session_run(
    cvision_session *session, const cvision_tensor *inputs, int input_count,
    const char *const *outputs, int output_count);

/// Describes an output of the last run. Its values are valid until the next run. Returns 0, or -1.
int cvision_session_output(const cvision_session *session, int index, cvision_tensor *output);

#ifdef __cplusplus
}
#endif

#endif
