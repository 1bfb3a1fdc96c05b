#ifdef SIDELIGHT_VISION

#include <memory>
#include <string>
#include <vector>

#include <opencv2/dnn.hpp>

#include "CVision.h"
#include "failure.hpp"

using cvision::guarded;
using cvision::require;

struct cvision_net {
  cv::dnn::Net net;
  std::vector<cv::Mat> outputs;
};

static std::vector<int> shape(const cvision_tensor &tensor) {
  require(tensor.rank >= 0 && tensor.rank <= cvision_max_rank, "a tensor has too many dimensions");
  return std::vector<int>(tensor.dimensions, tensor.dimensions + tensor.rank);
}

cvision_net *cvision_net_open(const uint8_t *bytes, size_t count) {
  return guarded<cvision_net *>(nullptr, [&] {
    cvision::initialize_opencv();
    auto result = std::make_unique<cvision_net>();
    result->net = cv::dnn::readNetFromONNX(reinterpret_cast<const char *>(bytes), count);
    require(!result->net.empty(), "the network is empty");
    result->net.setPreferableBackend(cv::dnn::DNN_BACKEND_OPENCV);
    result->net.setPreferableTarget(cv::dnn::DNN_TARGET_CPU);
    return result.release();
  });
}

void cvision_net_close(cvision_net *net) { delete net; }

int cvision_net_cost(
    const cvision_net *net, const cvision_tensor *inputs, int count, int64_t *bytes,
    int64_t *operations) {
  return guarded(-1, [&] {
    std::vector<cv::dnn::MatShape> shapes;
    for (int i = 0; i < count; i++) shapes.push_back(shape(inputs[i]));
    size_t weights = 0, blobs = 0;
    net->net.getMemoryConsumption(shapes, weights, blobs);
    *bytes = static_cast<int64_t>(blobs);
    *operations = net->net.getFLOPS(shapes);
    return 0;
  });
}

int cvision_net_run(
    cvision_net *net, const cvision_tensor *inputs, int input_count, const char *const *outputs,
    int output_count) {
  return guarded(-1, [&] {
    for (int i = 0; i < input_count; i++) {
      const std::vector<int> sizes = shape(inputs[i]);
      const cv::Mat blob(
          static_cast<int>(sizes.size()), sizes.data(), CV_32F,
          const_cast<float *>(inputs[i].values));
      net->net.setInput(blob, inputs[i].name);
    }
    const std::vector<cv::String> names(outputs, outputs + output_count);
    net->outputs.clear();
    net->net.forward(net->outputs, names);
    require(net->outputs.size() == names.size(), "the network returns fewer outputs than it has");
    for (cv::Mat &output : net->outputs) {
      require(output.type() == CV_32F, "an output is not of 32-bit floats");
      if (!output.isContinuous()) output = output.clone();
    }
    return 0;
  });
}

int cvision_net_output(const cvision_net *net, int index, cvision_tensor *output) {
  return guarded(-1, [&] {
    const cv::Mat &values = net->outputs.at(static_cast<size_t>(index));
    require(values.dims <= cvision_max_rank, "an output has too many dimensions");
    output->name = nullptr;
    output->values = values.ptr<float>();
    output->rank = values.dims;
    for (int i = 0; i < values.dims; i++) output->dimensions[i] = values.size[i];
    return 0;
  });
}

#endif
