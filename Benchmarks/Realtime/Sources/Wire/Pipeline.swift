/// A pipeline, encoded as `sidelight.v1.Pipeline`.
struct Pipeline: Sendable {
  /// A filter with parameters that are numbers.
  struct Filter: Sendable {
    var name: String
    var parameters: [String: Double] = [:]
  }

  /// The name in reports.
  let name: String
  let filters: [Filter]

  static let passThrough = Pipeline(name: "pass-through", filters: [])
  static let vintage = Pipeline(name: "vintage", filters: [Filter(name: "vintage")])
  static let blur = Pipeline(
    name: "gaussianBlur 10",
    filters: [Filter(name: "gaussianBlur", parameters: ["radius": 10])])
  /// The most expensive plan here: none of its passes fuse. For small frames with much work, so
  /// that processors are the bottleneck and not the transport.
  static let expensive = Pipeline(
    name: "4 x (median, zoomBlur)",
    filters: (0 ..< 4).flatMap { _ in [Filter(name: "median"), Filter(name: "zoomBlur")] })

  /// The encoded message.
  var encoded: [UInt8] {
    WireWriter.message { pipeline in
      for filter in self.filters {
        let encodedFilter = WireWriter.message {
          $0.string(1, filter.name)
          for (name, value) in filter.parameters {
            let number = WireWriter.message { $0.double(1, value) }
            $0.message(
              2,
              WireWriter.message {
                $0.string(1, name)
                $0.message(2, number)
              })
          }
        }
        pipeline.message(1, WireWriter.message { $0.message(5, encodedFilter) })
      }
    }
  }
}
