#ifdef SIDELIGHT_VISION

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include <opencv2/imgproc.hpp>
#include <opencv2/video/tracking.hpp>

#include "CVision.h"
#include "failure.hpp"

using cvision::guarded;
using cvision::require;

struct cvision_pyramid {
  // Pictures and derivatives alternate, as buildOpticalFlowPyramid stores them. They don't refer to
  // the caller's samples.
  std::vector<cv::Mat> levels;
  int window, level;
};

cvision_pyramid *cvision_pyramid_create(
    const uint8_t *samples, int width, int height, int window, int level) {
  return guarded<cvision_pyramid *>(nullptr, [&] {
    cvision::initialize_opencv();
    const cv::Mat picture(height, width, CV_8UC1, const_cast<uint8_t *>(samples));
    auto pyramid = std::make_unique<cvision_pyramid>();
    pyramid->window = window;
    pyramid->level = cv::buildOpticalFlowPyramid(
        picture, pyramid->levels, cv::Size(window, window), level, true, cv::BORDER_REFLECT_101,
        cv::BORDER_CONSTANT, false);
    return pyramid.release();
  });
}

void cvision_pyramid_destroy(cvision_pyramid *pyramid) { delete pyramid; }

int cvision_flow(
    const cvision_pyramid *from, const cvision_pyramid *to, const float *points, int count,
    double tolerance, float *moved, uint8_t *found) {
  return guarded(-1, [&] {
    require(from->window == to->window && from->level == to->level, "the pyramids differ");
    if (count == 0) return 0;
    const cv::Size window(from->window, from->window);
    const cv::TermCriteria criteria(cv::TermCriteria::COUNT | cv::TermCriteria::EPS, 20, 0.02);
    const cv::Mat start(count, 1, CV_32FC2, const_cast<float *>(points));
    cv::Mat end, back, forward_status, backward_status;
    cv::calcOpticalFlowPyrLK(
        from->levels, to->levels, start, end, forward_status, cv::noArray(), window, from->level,
        criteria);
    // Without the start as a guess: the way back must find it independently.
    cv::calcOpticalFlowPyrLK(
        to->levels, from->levels, end, back, backward_status, cv::noArray(), window, from->level,
        criteria);
    for (int i = 0; i < count; i++) {
      const cv::Point2f a = start.at<cv::Point2f>(i), b = end.at<cv::Point2f>(i);
      const cv::Point2f error = back.at<cv::Point2f>(i) - a;
      moved[2 * i] = b.x;
      moved[2 * i + 1] = b.y;
      found[i] = forward_status.at<uint8_t>(i) && backward_status.at<uint8_t>(i)
          && std::hypot(error.x, error.y) < tolerance;
    }
    return 0;
  });
}

// Returns the mean of every cell. Cut cells are filled with the samples at the edges.
static cv::Mat cell_means(const cv::Mat &values, int cell) {
  const int columns = (values.cols + cell - 1) / cell, rows = (values.rows + cell - 1) / cell;
  cv::Mat whole, means;
  cv::copyMakeBorder(
      values, whole, 0, rows * cell - values.rows, 0, columns * cell - values.cols,
      cv::BORDER_REPLICATE);
  cv::resize(whole, means, cv::Size(columns, rows), 0, 0, cv::INTER_AREA);
  return means;
}

int cvision_motion(
    const uint8_t *earlier, const uint8_t *picture, int width, int height, int cell,
    float *offsets, float *levels) {
  return guarded(-1, [&] {
    cvision::initialize_opencv();
    require(width >= 32 && height >= 32 && cell > 0, "the picture is too small");
    const cv::Mat before(height, width, CV_8UC1, const_cast<uint8_t *>(earlier));
    const cv::Mat after(height, width, CV_8UC1, const_cast<uint8_t *>(picture));
    cv::Mat flow, moved, values;
    cv::DISOpticalFlow::create(cv::DISOpticalFlow::PRESET_FAST)->calc(after, before, flow);
    cv::Mat places(height, width, CV_32FC2);
    for (int y = 0; y < height; y++) {
      const cv::Vec2f *row = flow.ptr<cv::Vec2f>(y);
      cv::Vec2f *place = places.ptr<cv::Vec2f>(y);
      for (int x = 0; x < width; x++) place[x] = row[x] + cv::Vec2f(x, y);
    }
    before.convertTo(values, CV_32F);
    cv::remap(values, moved, places, cv::noArray(), cv::INTER_LINEAR, cv::BORDER_REPLICATE);
    const cv::Mat distances = cell_means(flow, cell), means = cell_means(moved, cell);
    std::copy(distances.begin<cv::Vec2f>(), distances.end<cv::Vec2f>(), (cv::Vec2f *)offsets);
    std::copy(means.begin<float>(), means.end<float>(), levels);
    return 0;
  });
}

int cvision_corners(
    const uint8_t *samples, int width, int height, int x, int y, int box_width, int box_height,
    double distance, float *points, int capacity) {
  return guarded(-1, [&] {
    cvision::initialize_opencv();
    require(box_width > 0 && box_height > 0 && capacity > 0, "the box is empty");
    const cv::Mat picture(height, width, CV_8UC1, const_cast<uint8_t *>(samples));
    const cv::Rect box(x, y, box_width, box_height);
    const cv::Rect inside = box & cv::Rect(0, 0, width, height);
    if (inside.empty()) return 0;
    cv::Mat mask = cv::Mat::zeros(inside.size(), CV_8UC1);
    const cv::Point2f center(
        box.x + (box.width - 1) * 0.5f - inside.x, box.y + (box.height - 1) * 0.5f - inside.y);
    cv::ellipse(
        mask, cv::RotatedRect(center, cv::Size2f(box.width - 1, box.height - 1), 0), 255,
        cv::FILLED);
    std::vector<cv::Point2f> corners;
    // OpenCV divides the picture into cells of this size, and does not check that it is an int.
    const double apart = std::min(std::max(distance, 1.0), 4096.0);
    cv::goodFeaturesToTrack(picture(inside), corners, capacity, 0.01, apart, mask, 5);
    const int count = std::min(capacity, static_cast<int>(corners.size()));
    for (int i = 0; i < count; i++) {
      points[2 * i] = corners[i].x + inside.x;
      points[2 * i + 1] = corners[i].y + inside.y;
    }
    return count;
  });
}

#endif
