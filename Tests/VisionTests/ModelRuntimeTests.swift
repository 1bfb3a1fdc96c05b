#if Vision
  import Foundation
  import SidelightKernels
  import SidelightScene
  import SidelightVision
  import Testing

  /// The runtimes of the machine. ONNX Runtime takes part if SIDELIGHT_TEST_ONNXRUNTIME is the path
  /// of its shared library.
  enum TestRuntimes {
    static let onnxRuntimePath = ProcessInfo.processInfo.environment["SIDELIGHT_TEST_ONNXRUNTIME"]
      .flatMap { $0.isEmpty ? nil : $0 }

    static func all() throws -> [any ModelRuntime] {
      guard let path = self.onnxRuntimePath else { return [OpenCVRuntime()] }
      return [OpenCVRuntime(), try ONNXRuntime(path: path)]
    }
  }

  @Suite struct `Model runtimes` {
    private func file(_ model: ONNXBuilder, _ name: String = "m") throws -> ModelFile {
      try ModelFile(name: name, path: "\(name).onnx", bytes: model.bytes)
    }

    private func error(
      _ model: ONNXBuilder, _ runtime: any ModelRuntime, limits: ModelLimits = ModelLimits()
    ) -> VisionError? {
      do {
        _ = try runtime.load(
          try ModelFile(name: "m", path: "m.onnx", bytes: model.bytes, limits: limits))
        return nil
      } catch { return error as? VisionError }
    }

    @Test func `a convolution computes the weighted sum of the channels in its layout`() throws {
      for runtime in try TestRuntimes.all() {
        for isPlanar in [true, false] {
          let model = ONNXBuilder.convolution(
            weights: [[0.25, 0.5, -1], [0, 1, 0]], width: 5, height: 3, isPlanar: isPlanar)
          var loaded = try runtime.load(try self.file(model))
          #expect(loaded.inputs[0].dimensions == (isPlanar ? [1, 3, 3, 5] : [1, 3, 5, 3]))
          #expect(loaded.outputs[0].dimensions == (isPlanar ? [1, 2, 3, 5] : [1, 3, 5, 2]))
          for round in 0 ..< 3 {
            let values = (0 ..< 45).map { Float(($0 * 7 + round) % 23) }
            let tensor = Tensor(dimensions: loaded.inputs[0].dimensions, values: values)
            let result = try loaded.run([tensor])[0]
            for index in 0 ..< 15 {
              func channel(_ number: Int) -> Float {
                values[isPlanar ? number * 15 + index : index * 3 + number]
              }
              let first = 0.25 * channel(0) + 0.5 * channel(1) - channel(2)
              #expect(abs(result.values[isPlanar ? index : 2 * index] - first) < 1e-4)
              #expect(
                abs(result.values[isPlanar ? 15 + index : 2 * index + 1] - channel(1)) < 1e-4)
            }
          }
        }
      }
    }

    @Test
    func `a matte of the green channel is the green channel, in each layout, order and size`()
      throws
    {
      let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("vision-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let picture = TestPictures.noise(width: 32, height: 18)
      for runtime in try TestRuntimes.all() {
        for isPlanar in [true, false] {
          for order in ["RGB", "BGR"] {
            for (width, height) in [(32, 18), (24, 24), (40, 20)] {
              // Blue counts a little, which makes the order visible.
              let blue = order == "RGB" ? 2 : 0
              var weights: [Float] = [0, 0.75, 0]
              weights[blue] = 0.25
              let model = ONNXBuilder.convolution(
                weights: [weights], width: width, height: height, isPlanar: isPlanar)
              let path = folder.appendingPathComponent("m.onnx")
              try Data(model.bytes).write(to: path)
              let json =
                #"{"input": {"order": "\#(order)", "scale": \#(1.0 / 255), "mean": 0}}"#
              try Data(json.utf8).write(to: folder.appendingPathComponent("m.json"))
              let vision = try VisionModel(
                try ModelFile(name: "m", path: path.path), task: .matte, runtime: runtime)
              var source = try ModelMatteSource(vision)
              let matte = try source.matte(of: picture, faces: [])
              #expect(matte.width == width && matte.height == height && matte.isSure)
              for y in 0 ..< height {
                for x in 0 ..< width {
                  let (u, v) = (
                    (Double(x) + 0.5) * 32 / Double(width), (Double(y) + 0.5) * 18 / Double(height)
                  )
                  let expected =
                    (0.75 * TestPictures.level(picture, u, v, 1)
                      + 0.25 * TestPictures.level(picture, u, v, 2)) / 255
                  #expect(abs(Double(matte.values[y * width + x]) - expected) < 1e-4)
                }
              }
            }
          }
        }
      }
    }

    @Test func `a matte that misses a known face is unsure`() throws {
      let model = ONNXBuilder.convolution(weights: [[0, 1, 0]], width: 32, height: 32)
      let vision = try VisionModel(try self.file(model), task: .matte, runtime: OpenCVRuntime())
      var source = try ModelMatteSource(vision)
      // The convention of MODNet takes -1 to 1: levels of 255 are 1, and of 127 about 0.
      func picture(_ level: UInt8) -> ColorPicture {
        ColorPicture(width: 32, height: 32, samples: [UInt8](repeating: level, count: 3 * 32 * 32))
      }
      let face = DetectedFace(center: PicturePoint(x: 16, y: 16), size: 10)
      #expect(try source.matte(of: picture(255), faces: [face]).isSure)
      #expect(try !source.matte(of: picture(127), faces: [face]).isSure)
      #expect(try source.matte(of: picture(127), faces: []).isSure)
    }

    @Test func `an output becomes an input of the next run`() throws {
      // output = input's green channel + state; the state is the last output.
      var model = ONNXBuilder.convolution(
        weights: [[0, 1, 0]], width: 4, height: 4, output: "green")
      model.inputs.append(ONNXBuilder.Port(name: "before", dimensions: [1, 1, 4, 4]))
      model.outputs = [ONNXBuilder.Port(name: "after", dimensions: [1, 1, 4, 4])]
      model.nodes.append(
        ONNXBuilder.Node(kind: "Add", inputs: ["green", "before"], output: "after"))
      let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("vision-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let path = folder.appendingPathComponent("m.onnx")
      try Data(model.bytes).write(to: path)
      let json = """
        {"input": {"scale": 0.001, "mean": 0}, "output": {"name": "after"},
         "states": [{"input": "before", "output": "after"}]}
        """
      try Data(json.utf8).write(to: folder.appendingPathComponent("m.json"))
      for runtime in try TestRuntimes.all() {
        let vision = try VisionModel(
          try ModelFile(name: "m", path: path.path), task: .matte, runtime: runtime)
        var first = try ModelMatteSource(vision)
        var second = try ModelMatteSource(vision)
        let picture = ColorPicture(
          width: 4, height: 4, samples: [UInt8](repeating: 100, count: 48))
        for round in 1 ... 3 {
          let value = try first.matte(of: picture, faces: []).values[0]
          #expect(abs(value - 0.1 * Float(round)) < 1e-5)
        }
        // Sources share the model, not the state.
        #expect(abs(try second.matte(of: picture, faces: []).values[5] - 0.1) < 1e-5)
      }
    }

    @Test func `OpenCV refuses a model without fixed sizes, and says how to export it`() throws {
      let model = ONNXBuilder.convolution(weights: [[0, 1, 0]], width: nil, height: nil)
      let error = try #require(self.error(model, OpenCVRuntime()))
      #expect(error.code == .unsupported)
      #expect(error.message.contains("input 1x3x?x? has no fixed size"))
      #expect(error.message.contains("export with fixed sizes and folded constants"))
    }

    @Test(
      .enabled(if: TestRuntimes.onnxRuntimePath != nil, "SIDELIGHT_TEST_ONNXRUNTIME is not set"))
    func `ONNX Runtime takes the sizes that the model does not fix from the description`() throws {
      let runtime = try ONNXRuntime(path: try #require(TestRuntimes.onnxRuntimePath))
      let model = ONNXBuilder.convolution(weights: [[0, 1, 0]], width: nil, height: nil)
      let error = try #require(self.error(model, runtime))
      #expect(error.code == .unsupported)
      let shape = TensorShape(name: "input", dimensions: [1, 3, 4, 6])
      let loaded = try runtime.load(try self.file(model), inputs: [shape])
      #expect(loaded.outputs.map(\.dimensions) == [[1, 1, 4, 6]])
    }

    @Test func `an unknown operator and weights of a wrong shape are refused by name`() throws {
      for runtime in try TestRuntimes.all() {
        var unknown = ONNXBuilder.convolution(weights: [[0, 1, 0]], width: 4, height: 4)
        unknown.nodes[0].kind = "NoSuchOperator"
        var weights = ONNXBuilder.convolution(weights: [[0, 1, 0]], width: 4, height: 4)
        weights.constants[0].dimensions = [1, 7, 1, 1]
        weights.constants[0].values = [Float](repeating: 1, count: 7)
        for model in [unknown, weights] {
          let error = try #require(self.error(model, runtime))
          #expect(error.code == .unsupported)
          #expect(error.message.hasPrefix("model m (m.onnx): \(runtime.name) cannot run it"))
        }
      }
    }

    @Test
    func `a model whose run takes too much memory or time is refused before it runs`() throws {
      let model = ONNXBuilder.convolution(
        weights: [[Float]](repeating: [1, 1, 1], count: 64), width: 512, height: 512)
      var limits = ModelLimits()
      limits.workingBytes = 1 << 20
      #expect(self.error(model, OpenCVRuntime(), limits: limits)?.code == .limitExceeded)
      limits = ModelLimits()
      limits.operations = 1_000_000
      #expect(self.error(model, OpenCVRuntime(), limits: limits)?.code == .limitExceeded)
      #expect(self.error(model, OpenCVRuntime()) == nil)
    }

    @Test
    func `a model that is damaged at any byte is loaded or refused, and never ends the process`()
      throws
    {
      let bytes = ONNXBuilder.convolution(weights: [[0, 1, 0]], width: 4, height: 4).bytes
      for index in bytes.indices {
        for value in [0, 0xFF] as [UInt8] {
          var damaged = bytes
          damaged[index] = value
          if let file = try? ModelFile(name: "m", path: "m.onnx", bytes: damaged) {
            _ = try? OpenCVRuntime().load(file)
          }
        }
      }
    }

    @Test func `an input of another size is refused, and the model still runs`() throws {
      for runtime in try TestRuntimes.all() {
        let model = ONNXBuilder.convolution(weights: [[0, 1, 0]], width: 4, height: 4)
        var loaded = try runtime.load(try self.file(model))
        #expect(throws: VisionError.self) {
          _ = try loaded.run([
            Tensor(dimensions: [1, 3, 2, 2], values: [Float](repeating: 0, count: 12))
          ])
        }
        #expect(throws: VisionError.self) { _ = try loaded.run([]) }
        #expect(try loaded.run([Tensor(loaded.inputs[0], repeating: 2)])[0].values[3] == 2)
      }
    }

    @Test func `threads that share a model get their own results`() async throws {
      let model = ONNXBuilder.convolution(weights: [[0, 1, 0]], width: 16, height: 16)
      for runtime in try TestRuntimes.all() {
        let vision = try VisionModel(try self.file(model), task: .matte, runtime: runtime)
        await withTaskGroup(of: Bool.self) { group in
          for task in 0 ..< 4 {
            group.addTask {
              (0 ..< 50).allSatisfy { round in
                let value = Float(100 * task + round)
                let result = try? vision.run([Tensor(vision.inputs[0], repeating: value)])
                return result?[0].values.allSatisfy { $0 == value } == true
              }
            }
          }
          for await isRight in group { #expect(isRight) }
        }
      }
    }

    @Test func `a library that is missing or is not ONNX Runtime is refused with its path`() {
      for path in ["/nowhere/libonnxruntime.so", "libm.so.6"] {
        #expect {
          _ = try ONNXRuntime(path: path)
        } throws: { error in
          let error = error as? VisionError
          return error?.code == .unavailable && error?.message.contains(path) == true
        }
      }
    }
  }
#endif
