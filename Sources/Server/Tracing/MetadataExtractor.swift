import GRPCCore
import Tracing

/// Reads trace context from a call's metadata.
struct MetadataExtractor: Extractor {
  /// - Returns: What stands there. Lists such as `tracestate` may come in parts, which are joined; more
  ///   than one `traceparent` says nothing.
  func extract(key: String, from carrier: Metadata) -> String? {
    let values = Array(carrier[stringValues: key])
    switch key {
    case "traceparent": return values.count == 1 ? values[0] : nil
    default: return values.isEmpty ? nil : values.joined(separator: ",")
    }
  }
}
