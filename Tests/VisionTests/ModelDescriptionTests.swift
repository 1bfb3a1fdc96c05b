import SidelightVision
import Testing

@Suite struct `Model descriptions` {
  private func shapes(_ list: [(String, [Int])]) -> [TensorShape] {
    list.map { TensorShape(name: $0.0, dimensions: $0.1) }
  }

  private func description(
    _ task: ModelTask, _ inputs: [(String, [Int])], _ outputs: [(String, [Int])],
    json: String? = nil
  ) throws -> ModelDescription {
    let file = try json.map { try self.parse($0) }
    return try ModelDescription.resolve(
      task, inputs: self.shapes(inputs), outputs: self.shapes(outputs), file: file)
  }

  private func parse(_ json: String) throws -> ModelDescriptionFile {
    let model = try ModelFile(
      name: "m", path: "m.onnx",
      bytes: ONNXBuilder.convolution(weights: [[1, 0, 0]], width: 4, height: 4).bytes)
    return try ModelDescriptionFile.parse(Array(json.utf8), model)
  }

  /// A model of a known family.
  struct Family: Sendable, CustomTestStringConvertible {
    let name: String
    let task: ModelTask
    let inputs: [(String, [Int])]
    let outputs: [(String, [Int])]
    let check: @Sendable (ModelDescription) -> Bool
    var testDescription: String { self.name }
  }

  private static func matte(_ description: ModelDescription) -> ModelDescription.Matte? {
    if case .matte(let matte) = description.output { matte } else { nil }
  }

  private static func faces(_ description: ModelDescription) -> ModelDescription.Faces? {
    if case .faces(let faces) = description.output { faces } else { nil }
  }

  private static func yuNet(width: Int, height: Int) -> [(String, [Int])] {
    [8, 16, 32].flatMap { stride in
      let count = width / stride * (height / stride)
      return [("cls", 1), ("obj", 1), ("bbox", 4), ("kps", 10)].map {
        ("\($0.0)_\(stride)", [1, count, $0.1])
      }
    }
  }

  static let families = [
    Family(
      name: "selfie landscape", task: .matte, inputs: [("in", [1, 144, 256, 3])],
      outputs: [("out", [1, 144, 256, 1])]
    ) {
      $0.input.layout == .nhwc && $0.input.width == 256 && $0.input.height == 144
        && $0.input.scale == [1.0 / 255, 1.0 / 255, 1.0 / 255] && $0.input.mean == [0, 0, 0]
        && $0.input.fit == .stretch && Self.matte($0)?.channel == 0
    },
    Family(
      name: "selfie with two channels", task: .matte, inputs: [("in", [1, 256, 256, 3])],
      outputs: [("out", [1, 256, 256, 2])]
    ) { Self.matte($0)?.channel == 1 },
    Family(
      name: "selfie multiclass", task: .matte, inputs: [("input_29", [1, 256, 256, 3])],
      outputs: [("Identity", [1, 256, 256, 6])]
    ) {
      Self.matte($0)?.activation == .softmax && Self.matte($0)?.isInverted == true
        && Self.matte($0)?.channel == 0
    },
    Family(
      name: "MODNet", task: .matte, inputs: [("input", [1, 3, 288, 512])],
      outputs: [("output", [1, 1, 288, 512])]
    ) { $0.input.layout == .nchw && $0.input.mean == [127.5, 127.5, 127.5] },
    Family(
      name: "PP-HumanSeg", task: .matte, inputs: [("x", [1, 3, 192, 192])],
      outputs: [("y", [1, 2, 192, 192])]
    ) { Self.matte($0)?.channel == 1 && $0.input.scale[0] == 1 / 127.5 },
    Family(
      name: "Robust Video Matting", task: .matte,
      inputs: [
        ("src", [1, 3, 144, 256]), ("r1i", [1, 16, 72, 128]), ("r2i", [1, 20, 36, 64]),
        ("r3i", [1, 40, 18, 32]), ("r4i", [1, 64, 9, 16]), ("downsample_ratio", [1]),
      ],
      outputs: [
        ("fgr", [1, 3, 144, 256]), ("pha", [1, 1, 144, 256]), ("r1o", [1, 16, 72, 128]),
        ("r2o", [1, 20, 36, 64]), ("r3o", [1, 40, 18, 32]), ("r4o", [1, 64, 9, 16]),
      ]
    ) {
      $0.states.count == 4 && $0.constants == ["downsample_ratio": 1]
        && Self.matte($0)?.name == "pha" && $0.input.mean == [0, 0, 0]
    },
    Family(
      name: "BlazeFace short range", task: .faces, inputs: [("input", [1, 3, 128, 128])],
      outputs: [("regressors", [1, 896, 16]), ("classificators", [1, 896, 1])]
    ) {
      Self.faces($0)?.encoding == .blazeFace && Self.faces($0)?.anchors == [[16, 2], [8, 6]]
        && $0.input.fit == .letterbox
    },
    Family(
      name: "BlazeFace full range", task: .faces, inputs: [("input", [1, 3, 192, 192])],
      outputs: [("a", [1, 2304, 16]), ("b", [1, 2304, 1])]
    ) { Self.faces($0)?.anchors == [[48, 1]] },
    Family(
      name: "YuNet", task: .faces, inputs: [("input", [1, 3, 192, 320])],
      outputs: Self.yuNet(width: 320, height: 192)
    ) {
      Self.faces($0)?.encoding == .yuNet && $0.input.order == .bgr && $0.input.scale == [1, 1, 1]
    },
    Family(
      name: "SCRFD", task: .faces, inputs: [("input.1", [1, 3, 320, 320])],
      outputs: [3200, 800, 200].flatMap { n in
        [("s\(n)", [n, 1]), ("b\(n)", [n, 4]), ("k\(n)", [n, 10])]
      }
    ) { Self.faces($0)?.encoding == .scrfd && $0.input.scale[0] == 1.0 / 128 },
    Family(
      name: "UltraFace", task: .faces, inputs: [("input", [1, 3, 240, 320])],
      outputs: [("scores", [1, 4420, 2]), ("boxes", [1, 4420, 4])]
    ) { Self.faces($0)?.encoding == .ultraFace && $0.input.mean == [127, 127, 127] },
    Family(
      name: "face mesh", task: .landmarks, inputs: [("input_1", [1, 3, 192, 192])],
      outputs: [("conv2d_21", [1, 1404, 1, 1]), ("conv2d_31", [1, 1, 1, 1])]
    ) { $0.input.scale[0] == 1.0 / 255 && $0.input.width == 192 },
  ]

  @Test(arguments: Self.families)
  func `known families are recognized by their shapes`(family: Family) throws {
    let description = try self.description(family.task, family.inputs, family.outputs)
    #expect(family.check(description))
    #expect(description.task == family.task)
  }

  @Test func `unknown shapes without a description are refused with what the model has`() {
    #expect {
      _ = try self.description(.matte, [("x", [1, 3, 8, 8])], [("y", [1, 7, 8, 8])])
    } throws: { error in
      let error = error as? VisionError
      return error?.code == .unknownConvention
        && error?.message.contains("x 1x3x8x8") == true
        && error?.message.contains("y 1x7x8x8") == true
    }
  }

  @Test func `a description overrides the convention`() throws {
    let description = try self.description(
      .matte, [("x", [1, 3, 8, 16])], [("y", [1, 7, 8, 16])],
      json: """
        {"task": "matte", "input": {"order": "BGR", "scale": 0.5, "mean": [1, 2, 3],
         "fit": "letterbox"}, "output": {"channel": 4, "activation": "sigmoid", "inverted": true},
         "about": {"license": "MIT"}}
        """)
    #expect(description.input.order == .bgr)
    #expect(description.input.scale == [0.5, 0.5, 0.5])
    #expect(description.input.mean == [1, 2, 3])
    #expect(description.input.fit == .letterbox)
    let matte = try #require(Self.matte(description))
    #expect(matte.channel == 4)
    #expect(matte.activation == .sigmoid)
    #expect(matte.isInverted)
  }

  @Test(
    arguments: [
      ("[]", "not an object"), ("{", "not JSON"), (#"{"tusk": 1}"#, "tusk is unknown"),
      (#"{"input": {"sclae": 1}}"#, "input.sclae is unknown"),
      (#"{"input": {"order": "GBR"}}"#, "input.order has an invalid value"),
      (#"{"input": {"scale": 0}}"#, "scale not 0"), (#"{"input": {"mean": [1]}}"#, "three"),
      (#"{"input": {"layout": "NHWC"}}"#, "layout NHWC"), (#"{"input": {"name": "z"}}"#, "no z"),
      (#"{"output": {"channel": 1}}"#, "output.channel is 1"),
      (#"{"output": {"name": "z"}}"#, "no z"), (#"{"task": "faces"}"#, "task is faces"),
      (#"{"faces": {"threshold": 0.5}}"#, "faces is set"),
      (#"{"states": [{"input": "x", "output": "y"}]}"#, "state x"),
      (#"{"constants": {"k": 1}}"#, "no k"),
    ])
  func `a description that is invalid or does not fit the model is refused with the part`(
    json: String, part: String
  ) {
    #expect {
      _ = try self.description(
        .matte, [("x", [1, 3, 8, 16])], [("y", [1, 1, 8, 16])], json: json)
    } throws: { error in
      let error = error as? VisionError
      return error?.code == .invalidDescription && error?.message.contains(part) == true
    }
  }

  @Test func `anchors that do not fit the outputs are refused`() {
    for anchors in ["[[16, 2]]", "[[0, 1]]", "[[16]]", "[[100000, 100000]]"] {
      #expect(throws: VisionError.self) {
        _ = try self.description(
          .faces, [("x", [1, 3, 128, 128])], [("a", [1, 896, 16]), ("b", [1, 896, 1])],
          json: #"{"faces": {"anchors": \#(anchors)}}"#)
      }
    }
  }
}
