import SidelightKernelLanguage
import SidelightKernels
import Synchronization
import Testing

/// Custom filters of every kind, as in the documentation.
@Suite struct `Custom filters` {
  struct Solarize: ColorKernel {
    func callAsFunction(_ pixel: Pixel, at position: PixelPosition) -> Pixel {
      Pixel(
        red: abs(2 * pixel.red - 1), green: abs(2 * pixel.green - 1),
        blue: abs(2 * pixel.blue - 1), alpha: pixel.alpha)
    }
  }

  struct Emboss: NeighborhoodKernel {
    var reach: Int { 2 }
    func callAsFunction(_ window: PixelWindow, at position: PixelPosition) -> Pixel {
      let (low, high) = (window[-2, -1], window[1, 2])
      let gray = (high.green - low.green) / 2 + 0.5 * window[0, 0].alpha
      return Pixel(red: gray, green: gray, blue: low.blue, alpha: window[0, 0].alpha)
    }
  }

  struct Brightness: FrameAnalysis {
    var everyNth: Int { 3 }
    func analyze(_ frame: Frame, at time: FrameTime) -> [String: AnalysisValue] {
      var sum = 0
      for y in 0 ..< frame.size.height {
        frame.withRow(y) { row in
          for x in 0 ..< row.byteCount {
            sum += Int(unsafe row.unsafeLoad(fromByteOffset: x, as: UInt8.self))
          }
        }
      }
      return ["mean": .number(Double(sum) / Double(frame.size.pixelCount))]
    }
  }

  static func bench() -> TestBench {
    var bench = TestBench()
    bench.catalogue.register(CustomFilter("solarize", "Bends the tones.", color: Solarize()))
    bench.catalogue.register(CustomFilter("emboss", "Shows slopes.", neighborhood: Emboss()))
    bench.catalogue.register(CustomFilter("brightness", "Looks.", analysis: Brightness()))
    bench.catalogue.register(
      CustomFilter("upsideDown", "Turns the picture over.") { input, output, _ in
        for plane in 0 ..< input.format.planeCount {
          let rows = input.format.rowCount(plane: plane, height: input.size.height)
          for y in 0 ..< rows {
            input.withRow(rows - 1 - y, plane: plane) { from in
              output.withMutableRow(y, plane: plane) { to in
                for x in 0 ..< from.byteCount {
                  to.storeBytes(
                    of: unsafe from.unsafeLoad(fromByteOffset: x, as: UInt8.self),
                    toByteOffset: x, as: UInt8.self)
                }
              }
            }
          }
        }
      })
    return bench
  }

  @Test(arguments: PixelFormat.allCases)
  func `kernels equal their definition`(
    _ format: PixelFormat
  ) async throws {
    let bench = Self.bench()
    for alpha in AlphaMode.allCases {
      for size in [(1, 1), (37, 23), (300, 7)] {
        let frame = try TestFrame.make(
          FrameGeometry(
            format: format, size: FrameSize(width: size.0, height: size.1),
            color: ColorDescription(alpha: alpha)))
        for name in ["solarize", "emboss"] {
          let pipeline: Pipeline = [.filter(name)]
          let result = try await bench.run(pipeline, on: frame)
          #expect(
            result.worstDifference(from: try bench.reference(pipeline, on: frame)) <= 1,
            "\(name) \(size) \(alpha)")
        }
      }
    }
  }

  @Test func `a colour kernel shares its neighbours' pass`() throws {
    let plan = try Self.bench().catalogue
      .resolve([.filter("sepiaTone"), .filter("solarize"), .filter("colorInvert")])
      .plan(for: FrameGeometry(format: .bgra8, size: FrameSize(width: 8, height: 8)))
    #expect(plan.passes.map(\.name) == ["sepiaTone+solarize+colorInvert"])
  }

  @Test func `a frame function reads a frame and writes one`() async throws {
    let bench = Self.bench()
    let frame = try TestFrame.make(
      FrameGeometry(format: .i420, size: FrameSize(width: 31, height: 18)))
    let twice = try await bench.run([.filter("upsideDown"), .filter("upsideDown")], on: frame)
    #expect(twice.samples == frame.samples)
    let mixed: Pipeline = [.filter("gaussianBlur"), .filter("upsideDown"), .filter("sepiaTone")]
    #expect(try await bench.run(mixed, on: frame).samples != frame.samples)
  }

  @Test func `a function that throws ends the frame with its error`() async throws {
    struct Broken: Error {}
    var bench = TestBench()
    bench.catalogue.register(CustomFilter("broken", "Fails.") { _, _, _ in throw Broken() })
    let frame = try TestFrame.make(
      FrameGeometry(format: .gray8, size: FrameSize(width: 4, height: 4)))
    await #expect(throws: Broken.self) { try await bench.run([.filter("broken")], on: frame) }
  }

  @Test func `an analysis compiles to no pass`() async throws {
    let bench = Self.bench()
    let frame = try TestFrame.flat(
      FrameGeometry(format: .gray8, size: FrameSize(width: 4, height: 4)), 80)
    let plan = try bench.catalogue.resolve([.filter("brightness")]).plan(for: frame.geometry)
    #expect(plan.isIdentity)
    #expect(plan.analyses.map(\.filter) == ["brightness"])
    #expect(plan.analyses.first?.analysis.everyNth == 3)
    let found = try await plan.analyses.first?.analysis.analyze(frame, at: FrameTime())
    #expect(found == ["mean": .number(80)])
  }

  @Test func `a custom filter is listed like any other`() {
    let catalogue = Self.bench().catalogue
    #expect(catalogue.description(named: "solarize")?.fidelity == .custom)
    #expect(catalogue.descriptions.count == FilterCatalogue.builtIn.descriptions.count + 4)
    #expect(catalogue.nearestName(to: "solarise") == "solarize")
  }
}
