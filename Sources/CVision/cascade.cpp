#ifdef SIDELIGHT_VISION

#include <algorithm>
#include <memory>
#include <vector>

#include <opencv2/imgproc.hpp>
#include <opencv2/objdetect.hpp>

#include "CVision.h"
#include "failure.hpp"

using cvision::guarded;
using cvision::require;

struct cvision_cascade {
  cv::CascadeClassifier classifier;
  // Kept between calls to reuse their memory.
  cv::Mat window, equalized;
};

cvision_cascade *cvision_cascade_open(const char *path) {
  return guarded<cvision_cascade *>(nullptr, [&] {
    cvision::initialize_opencv();
    auto cascade = std::make_unique<cvision_cascade>();
    require(cascade->classifier.load(path), "the file is not a cascade that OpenCV reads");
    return cascade.release();
  });
}

void cvision_cascade_close(cvision_cascade *cascade) { delete cascade; }

int cvision_cascade_find(
    cvision_cascade *cascade, const cvision_search *search, cvision_box *boxes, int capacity) {
  return guarded(-1, [&] {
    const cv::Mat picture(
        search->height, search->width, CV_8UC1, const_cast<uint8_t *>(search->samples));
    cv::Mat searched = picture;
    if (!search->is_whole) {
      const cv::Mat transform(2, 3, CV_64FC1, const_cast<double *>(search->transform));
      cv::warpAffine(
          picture, cascade->window, transform,
          cv::Size(search->window_width, search->window_height),
          cv::INTER_LINEAR | cv::WARP_INVERSE_MAP, cv::BORDER_REPLICATE);
      searched = cascade->window;
    }
    if (cv::mean(searched)[0] < search->equalize_below) {
      cv::equalizeHist(searched, cascade->equalized);
      searched = cascade->equalized;
    }
    std::vector<cv::Rect> found;
    std::vector<int> support;
    cascade->classifier.detectMultiScale(
        searched, found, support, search->scale, search->neighbors, 0,
        cv::Size(search->least, search->least), cv::Size(search->most, search->most));
    const int count = std::min(capacity, static_cast<int>(found.size()));
    for (int i = 0; i < count; i++) {
      boxes[i] = {found[i].x, found[i].y, found[i].width, found[i].height, support[i]};
    }
    return count;
  });
}

#endif
