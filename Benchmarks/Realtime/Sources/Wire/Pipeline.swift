/// A pipeline, encoded as `sidelight.v1.Pipeline`.
struct Pipeline: Sendable {
  /// A filter with parameters that are numbers, and the source of a kernel.
  struct Filter: Sendable {
    var name: String
    var parameters: [String: Double] = [:]
    var source: String?
  }

  /// The name in reports.
  let name: String
  var filters: [Filter] = []
  /// The encoded first stage of a frame; `nil` if the pipeline never changes. The sender selects the
  /// pipeline again before every frame.
  var changingStage: (@Sendable (_ frame: UInt64) -> [UInt8])?

  static let passThrough = Pipeline(name: "pass-through", filters: [])
  static let vintage = Pipeline(name: "vintage", filters: [Filter(name: "vintage")])
  static let blur = Pipeline(
    name: "gaussianBlur 10",
    filters: [Filter(name: "gaussianBlur", parameters: ["radius": 10])])
  static let sepia = Pipeline(name: "sepiaTone", filters: [Filter(name: "sepiaTone")])
  static let faceBlur = Pipeline(name: "faceBlur", filters: [Filter(name: "faceBlur")])
  /// Lines of letters of a quarter of the frame's height, which are new in every frame, with a soft
  /// shadow.
  static let newText = Pipeline(
    name: "text, new in each frame",
    changingStage: { frame in
      Self.textStage(
        (UInt64(0) ..< 8).map { "\((frame &* 8 + $0) &* 2_654_435_761 % 1_000_000_007)" }
          .joined(separator: " "))
    })
  /// A kernel that is new in every frame: thirty products to parse, check and compile.
  static let newKernel = Pipeline(
    name: "kernel, new in each frame",
    changingStage: { frame in
      let terms = (UInt64(0) ..< 30).map { "color.rgb * \(frame &* 30 + $0).5" }
      return Self.stage(
        Filter(
          name: "kernel", source: "clamp(\(terms.joined(separator: " + ")), vec3(0), vec3(1))"))
    })
  /// The most expensive plan here, whose passes don't fuse. With small frames and much work, the
  /// processors are the bottleneck instead of the transport.
  static let expensive = Pipeline(
    name: "4 x (median, zoomBlur)",
    filters: (0 ..< 4).flatMap { _ in [Filter(name: "median"), Filter(name: "zoomBlur")] })
  /// A kernel just below the limit of cost, 50 ns for each pixel by estimate.
  static let costliestKernel = Pipeline(
    name: "the costliest kernel",
    filters: [
      Filter(
        name: "kernel",
        source: """
          var c = color.rgb
          for i in 0..<20 { c = sin(c * 7 + exp(c)) }
          vec4(c, 1)
          """)
    ])

  /// Returns the encoded message for a frame.
  func encoded(at frame: UInt64 = 0) -> [UInt8] {
    WireWriter.message { pipeline in
      if let stage = self.changingStage?(frame) { pipeline.message(1, stage) }
      for filter in self.filters { pipeline.message(1, Self.stage(filter)) }
    }
  }

  private static func stage(_ filter: Filter) -> [UInt8] {
    let encodedFilter = WireWriter.message {
      $0.string(1, filter.name)
      if let source = filter.source {
        let text = WireWriter.message { $0.string(7, source) }
        $0.message(
          2,
          WireWriter.message {
            $0.string(1, "source")
            $0.message(2, text)
          })
      }
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
    return WireWriter.message { $0.message(5, encodedFilter) }
  }

  private static func textStage(_ text: String) -> [UInt8] {
    func value(_ field: Int, _ body: (inout WireWriter) -> Void) -> [UInt8] {
      WireWriter.message { $0.message(field, WireWriter.message(body)) }
    }
    let parameters = [
      "text": WireWriter.message { $0.string(7, text) },
      "size": value(2) {
        $0.double(1, 0.25)
        $0.varint(2, 3)
      },
      "shadowBlur": WireWriter.message { $0.double(1, 0.3) },
      "shadowColor": value(4) {
        $0.double(4, 1)
      },
    ]
    let filter = WireWriter.message {
      $0.string(1, "text")
      for (name, value) in parameters {
        $0.message(
          2,
          WireWriter.message {
            $0.string(1, name)
            $0.message(2, value)
          })
      }
    }
    return WireWriter.message { $0.message(5, filter) }
  }
}
