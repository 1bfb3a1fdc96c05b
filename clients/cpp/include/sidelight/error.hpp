// Copyright the Sidelight authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <google/rpc/error_details.pb.h>
#include <google/rpc/status.pb.h>
#include <grpcpp/support/status.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace sidelight {

/// An invalid field of a request.
struct FieldViolation {
  /// The path of the field: `select.pipeline_text`.
  std::string field;
  /// The value, the limit and the remedy, human-readable.
  std::string description;
};

/// A position in the text of a pipeline.
struct TextPosition {
  /// The line, from 1.
  std::uint32_t line = 0;
  /// The character in the line, from 1.
  std::uint32_t column = 0;
  /// The byte in the text, from 0.
  std::uint32_t utf8_offset = 0;
};

/// An error of the server or of the connection, with the details of `google.rpc`.
///
/// `what()` is the message of the server.
class Error : public std::runtime_error {
 public:
  Error(grpc::StatusCode code, const std::string& message)
      : std::runtime_error(message), code_(code) {}

  /// Reads the details of a status in a message of the contract.
  explicit Error(const google::rpc::Status& status)
      : Error(static_cast<grpc::StatusCode>(status.code()), status.message()) {
    for (const auto& detail : status.details()) add(detail);
  }

  /// Reads the details of the status of a call: `grpc-status-details-bin` contains them.
  explicit Error(const grpc::Status& status) : Error(status.error_code(), status.error_message()) {
    google::rpc::Status contents;
    if (status.error_details().empty() || !contents.ParseFromString(status.error_details())) return;
    for (const auto& detail : contents.details()) add(detail);
  }

  /// The code of the status.
  grpc::StatusCode code() const noexcept { return code_; }

  /// The invalid fields, in the order of the server.
  const std::vector<FieldViolation>& violations() const noexcept { return violations_; }

  /// The path of the first invalid field; empty if the error is not about a field.
  std::string field() const {
    return violations_.empty() ? metadata("field") : violations_.front().field;
  }

  /// The invalid value; empty if only the message contains it.
  std::string value() const { return metadata("value"); }

  /// The limit that the value exceeds; empty if only the message contains it.
  std::string limit() const { return metadata("limit"); }

  /// The nearest valid name, if a name is unknown; else empty.
  std::string suggestion() const { return metadata("suggestion"); }

  /// The position of the error in the text of a pipeline.
  std::optional<TextPosition> position() const {
    const auto line = number("line"), column = number("column"), offset = number("utf8_offset");
    if (!line || !column) return std::nullopt;
    return TextPosition{*line, *column, offset.value_or(0)};
  }

  /// The reason in `google.rpc.ErrorInfo`, such as `SHUTTING_DOWN`; empty if there is none.
  const std::string& reason() const noexcept { return reason_; }

  /// The time after which a retry may succeed, if the server states it.
  std::optional<std::chrono::nanoseconds> retry_delay() const noexcept { return retry_delay_; }

  /// An entry of the metadata in `google.rpc.ErrorInfo`; empty if there is none.
  std::string metadata(const std::string& key) const {
    const auto found = metadata_.find(key);
    return found == metadata_.end() ? std::string() : found->second;
  }

 private:
  void add(const google::protobuf::Any& detail) {
    google::rpc::BadRequest request;
    google::rpc::ErrorInfo info;
    google::rpc::RetryInfo retry;
    if (detail.UnpackTo(&request)) {
      for (auto& each : *request.mutable_field_violations()) {
        violations_.push_back(
            {std::move(*each.mutable_field()), std::move(*each.mutable_description())});
      }
    } else if (detail.UnpackTo(&info)) {
      reason_ = info.reason();
      for (const auto& [key, text] : info.metadata()) metadata_[key] = text;
    } else if (detail.UnpackTo(&retry)) {
      retry_delay_ = std::chrono::seconds(retry.retry_delay().seconds()) +
                     std::chrono::nanoseconds(retry.retry_delay().nanos());
    }
  }

  std::optional<std::uint32_t> number(const std::string& key) const {
    const auto text = metadata(key);
    if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos) {
      return std::nullopt;
    }
    return text.size() > 9 ? std::nullopt : std::optional<std::uint32_t>(std::stoul(text));
  }

  grpc::StatusCode code_;
  std::vector<FieldViolation> violations_;
  std::map<std::string, std::string> metadata_;
  std::string reason_;
  std::optional<std::chrono::nanoseconds> retry_delay_;
};

}  // namespace sidelight
