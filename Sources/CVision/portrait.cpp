#ifdef SIDELIGHT_VISION

#include <opencv2/imgproc.hpp>

#include "CVision.h"
#include "failure.hpp"

using cvision::guarded;
using cvision::require;

static_assert(cvision_background == cv::GC_BGD && cvision_person == cv::GC_FGD, "OpenCV's labels");
static_assert(
    cvision_perhaps_background == cv::GC_PR_BGD && cvision_perhaps_person == cv::GC_PR_FGD,
    "OpenCV's labels");

int cvision_segment(
    const uint8_t *samples, int width, int height, uint8_t *labels, int iterations) {
  return guarded(-1, [&] {
    cvision::initialize_opencv();
    require(width > 0 && height > 0 && iterations > 0, "the picture is empty");
    const cv::Mat picture(height, width, CV_8UC3, const_cast<uint8_t *>(samples));
    cv::Mat mask(height, width, CV_8UC1, labels);
    cv::Mat background, person;
    // The models of colours start from random centres: the same ones for every picture.
    cv::theRNG().state = 1;
    cv::grabCut(
        picture, mask, cv::Rect(), background, person, iterations, cv::GC_INIT_WITH_MASK);
    require(mask.data == labels, "OpenCV moved the labels");
    return 0;
  });
}

#endif
