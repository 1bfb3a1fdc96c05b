import SidelightKernelLanguage
import SidelightKernels
import SidelightReference
import Testing

/// Laws that hold for every picture and every instruction set.
@Suite struct `Laws on each instruction set` {
  static let size = FrameSize(width: 77, height: 51)
  static let machines = InstructionSet.available

  static func run(
    _ pipeline: Pipeline, on frame: Frame, _ machine: InstructionSet, index: UInt64 = 0
  ) async throws -> Frame {
    let plan = try FilterCatalogue.builtIn.resolve(pipeline).plan(for: frame.geometry)
    let executor = try #require(Self.executors[machine])
    return try await executor.run(plan, on: frame, at: FrameTime(index: index))
  }

  private static let executors = Dictionary(
    uniqueKeysWithValues: Self.machines.map { machine in
      let executor = PlanExecutor(
        pool: BufferPool(), compute: ComputePool(threadCount: 2, instructionSet: machine),
        fixedBands: BandRunner(maxBands: 3, minBandNanoseconds: 0))
      return (machine, executor)
    })

  static func geometry(
    _ format: PixelFormat, _ color: ColorDescription = ColorDescription(alpha: .opaque)
  ) -> FrameGeometry {
    FrameGeometry(format: format, size: Self.size, color: color)
  }

  /// Filters that keep a flat picture.
  static let flatKeeping: Pipeline = [
    .filter("gaussianBlur", ["radius": .number(0.4)]),
    .filter("gaussianBlur", ["radius": .number(3)]), .filter("gaussianBlur"),
    .filter("gaussianBlur", ["radius": .number(60)]), .filter("boxBlur"),
    .filter("boxBlur", ["radius": .number(2.3)]), .filter("motionBlur"),
    .filter("motionBlur", ["angle": .number(0.7)]), .filter("zoomBlur"),
    .filter("zoomBlur", ["amount": .number(-50)]), .filter("unsharpMask"),
    .filter("sharpenLuminance", ["sharpness": .number(40)]), .filter("bloom"), .filter("gloom"),
    .filter("median"), .filter("pixellate"), .filter("bumpDistortion"),
    .filter("twirlDistortion"),
  ]

  @Test(arguments: Self.machines, PixelFormat.allCases)
  func `a flat field stays flat up to the edge`(
    _ machine: InstructionSet, _ format: PixelFormat
  ) async throws {
    for value: UInt8 in [0, 1, 16, 127, 235, 255] {
      let frame = try TestFrame.flat(Self.geometry(format), value)
      for stage in Self.flatKeeping.stages {
        let result = try await Self.run([stage], on: frame, machine)
        #expect(result.samples == frame.samples, "\(stage) at \(value)")
      }
    }
  }

  /// Black and white in the range of the format, through filters that keep greys.
  @Test(arguments: Self.machines, [PixelFormat.i420, .nv12, .bgra8, .gray8])
  func `filters that keep greys keep black and white`(
    _ machine: InstructionSet, _ format: PixelFormat
  ) async throws {
    let greys: Pipeline = [
      .filter("grayscale"), .filter("hueAdjust", ["angle": .number(2)]),
      .filter("vibrance", ["amount": .number(0.9)]),
      .filter("colorControls", ["saturation": .number(1.8)]),
      .filter("gammaAdjust", ["power": .number(2.2)]), .filter("posterize"),
    ]
    for (range, matrix) in [(YUVRange.video, YUVMatrix.bt601), (.video, .bt709), (.full, .bt709)] {
      let color = ColorDescription(range: range, matrix: matrix, alpha: .opaque)
      let ends: [UInt8] = format.isYUV && range == .video ? [16, 235] : [0, 255]
      for value in ends {
        let frame = try TestFrame.make(Self.geometry(format, color), padding: .packed) {
          plane, _, _, _ in plane == 0 ? value : 128
        }
        for stage in greys.stages {
          let result = try await Self.run([stage], on: frame, machine)
          #expect(result.samples == frame.samples, "\(stage) \(range) \(matrix) \(value)")
        }
      }
    }
  }

  @Test(arguments: Self.machines, [PixelFormat.i420, .nv12])
  func `the matrices and ranges of YUV give different pictures`(
    _ machine: InstructionSet, _ format: PixelFormat
  ) async throws {
    for stage: Stage in [
      .filter("sepiaTone"), .filter("glow"), .filter("photoEffectNoir"),
      .filter("hueAdjust", ["angle": .number(1)]),
    ] {
      var results: Set<[[UInt8]]> = []
      for range in YUVRange.allCases {
        for matrix in YUVMatrix.allCases {
          let color = ColorDescription(range: range, matrix: matrix)
          let frame = try TestFrame.make(Self.geometry(format, color), seed: 3)
          results.insert(try await Self.run([stage], on: frame, machine).samples)
        }
      }
      #expect(results.count == 4, "\(stage)")
    }
  }

  @Test(arguments: Self.machines, PixelFormat.allCases)
  func `inverting twice and rotating hue by pi twice restore the frame`(
    _ machine: InstructionSet, _ format: PixelFormat
  ) async throws {
    // Values with which both steps stay in the range of bytes.
    let frame = try TestFrame.make(
      Self.geometry(format, ColorDescription(range: .full, alpha: .opaque)), padding: .ragged
    ) { plane, x, y, channel in
      plane == 0 && channel < 3 ? UInt8(100 + (x * 2 + y) % 50) : UInt8(118 + (x + y) % 20)
    }
    for stage: Stage in [.filter("colorInvert"), .filter("hueAdjust", ["angle": .number(.pi)])] {
      let once = try await Self.run([stage], on: frame, machine)
      let twice = try await Self.run([stage], on: once, machine)
      let levels = format.isYUV || stage != .filter("colorInvert") ? 1.0 : 0
      #expect(twice.worstDifference(from: frame.samples) <= levels)
      let atOnce = try await Self.run([stage, stage], on: frame, machine)
      #expect(atOnce.worstDifference(from: frame.samples) == 0)
    }
  }

  /// Settings without effect, by filter.
  static let identities: Pipeline = [
    .filter("sepiaTone", ["intensity": .number(0)]), .filter("colorMatrix"),
    .filter("colorControls"), .filter("hueAdjust"),
    .filter("temperatureAndTint"), .filter("exposureAdjust"), .filter("gammaAdjust"),
    .filter("vibrance"), .filter("whitePointAdjust"), .filter("toneCurve"), .filter("colorBalance"),
    .filter("vignette", ["intensity": .number(0)]),
    .filter("vignetteEffect", ["intensity": .number(0)]),
    .filter("grain", ["amount": .number(0)]), .filter("glow", ["intensity": .number(0)]),
    .filter("gaussianBlur", ["radius": .number(0.15)]),
    .filter("boxBlur", ["radius": .number(0)]), .filter("motionBlur", ["radius": .number(0)]),
    .filter("zoomBlur", ["amount": .number(0)]),
    .filter("unsharpMask", ["intensity": .number(0)]),
    .filter("sharpenLuminance", ["sharpness": .number(0)]),
    .filter("bloom", ["intensity": .number(0)]), .filter("gloom", ["intensity": .number(0)]),
    .filter("convolution3X3"), .filter("convolution5X5"), .filter("convolutionRGB3X3"),
    .filter("pixellate", ["scale": .number(1)]),
    .filter("holeDistortion", ["radius": .number(0)]),
    .filter("bumpDistortion", ["scale": .number(0)]),
    .filter("pinchDistortion", ["scale": .number(0)]),
    .filter("twirlDistortion", ["angle": .number(0)]), .filter("crop"),
    .filter("affineTransform"), .filter("orient"), .filter("scale"),
  ]

  @Test(arguments: PixelFormat.allCases, AlphaMode.allCases)
  func `identities compile to no pass`(
    _ format: PixelFormat, _ alpha: AlphaMode
  ) throws {
    let geometry = Self.geometry(format, ColorDescription(alpha: alpha))
    for stage in Self.identities.stages {
      #expect(
        try FilterCatalogue.builtIn.resolve([stage]).plan(for: geometry).isIdentity, "\(stage)")
    }
    #expect(try FilterCatalogue.builtIn.resolve(Self.identities).plan(for: geometry).isIdentity)
  }

  /// FNV-1a.
  private static func hash(_ samples: [[UInt8]]) -> UInt64 {
    samples.joined().reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }

  /// Written down once: every run, machine and instruction set must find the same noise.
  static let noises: [(stage: Stage, hash: UInt64)] = [
    (.filter("grain", ["amount": .number(1), "seed": .number(7)]), 5_751_395_576_593_957_892),
    (
      .filter(
        "grain", ["amount": .number(1), "seed": .number(7), "monochrome": .flag(false)]),
      5_555_450_248_859_676_603
    ),
    (.filter("randomGenerator", ["seed": .number(7)]), 12_672_424_692_128_670_356),
  ]

  @Test(arguments: Self.machines, Self.noises.indices)
  func `noise is the same on every run and machine`(
    _ machine: InstructionSet, _ number: Int
  ) async throws {
    let white = try TestFrame.flat(Self.geometry(.rgb24), 255)
    for _ in 0 ..< 2 {
      let result = try await Self.run([Self.noises[number].stage], on: white, machine, index: 5)
      #expect(Self.hash(result.samples) == Self.noises[number].hash)
    }
  }

  @Test(arguments: Self.machines, PixelFormat.allCases)
  func `pixellated squares are uniform`(
    _ machine: InstructionSet, _ format: PixelFormat
  ) async throws {
    let frame = try TestFrame.make(Self.geometry(format), seed: 7)
    let (side, center) = (12, (x: 26, y: 14))
    let result = try await Self.run(
      [
        .filter(
          "pixellate",
          [
            "scale": .number(Double(side)),
            "center": .vector([Double(center.x), Double(center.y)]),
          ])
      ], on: frame, machine)
    for shape in PlaneShape.planes(format, Self.size) {
      var colors: [[Int]: UInt8] = [:]
      let reach = Int(Double(side) * shape.scale)
      for y in 0 ..< shape.height {
        for x in 0 ..< shape.samples where !format.hasAlpha || x % 4 != 3 {
          // Far enough to the left and above that no position is less than 0.
          let square = [
            (x / shape.step + 40 * reach - Int(Double(center.x) * shape.scale)) / reach,
            (y + 40 * reach - Int(Double(center.y) * shape.scale)) / reach, x % shape.step,
          ]
          let sample = result.samples[shape.plane][y * shape.samples + x]
          #expect(colors[square, default: sample] == sample)
          colors[square] = sample
        }
      }
    }
  }

  @Test(arguments: Self.machines)
  func `a glow keeps dark pixels and maps white to 1, .97, .88`(
    _ machine: InstructionSet
  ) async throws {
    let geometry = FrameGeometry(format: .rgb24, size: FrameSize(width: 128, height: 1))
    let dark = try TestFrame.make(geometry, padding: .packed) { _, x, _, channel in
      channel == 1 ? UInt8(x * 100 / 128) : UInt8(x)
    }
    #expect(try await Self.run([.filter("glow")], on: dark, machine).samples == dark.samples)
    let white = try await Self.run(
      [.filter("glow")], on: try TestFrame.flat(geometry, 255), machine)
    #expect(Array(white.samples[0][0 ..< 3]) == [255, 247, 224])
  }

  @Test(arguments: Self.machines, [PixelFormat.rgb24, .bgra8, .i420, .nv12])
  func `5500 to 6500 cools, and its reverse warms`(
    _ machine: InstructionSet, _ format: PixelFormat
  ) async throws {
    let frame = try TestFrame.flat(Self.geometry(format), 128)
    func color(_ from: Double, _ to: Double) async throws -> SIMD4<Double> {
      let stage = Stage.filter(
        "temperatureAndTint",
        ["neutral": .vector([from, 0]), "targetNeutral": .vector([to, 0])])
      return ReferencePicture(try await Self.run([stage], on: frame, machine)).pixels[0]
    }
    let (cooled, warmed) = (try await color(5500, 6500), try await color(6500, 5500))
    #expect(cooled.z > cooled.x + 0.03 && warmed.x > warmed.z + 0.03)
  }

  @Test(arguments: Self.machines, [PixelFormat.bgra8, .rgba8])
  func `a vintage look keeps alpha and the fourth byte of opaque frames`(
    _ machine: InstructionSet, _ format: PixelFormat
  ) async throws {
    for alpha in AlphaMode.allCases {
      let frame = try TestFrame.make(Self.geometry(format, ColorDescription(alpha: alpha)))
      for name in ["vintage", "vintageWarm"] {
        let result = try await Self.run([.filter(name)], on: frame, machine)
        #expect(result.samples != frame.samples)
        #expect(
          stride(from: 3, to: frame.samples[0].count, by: 4).allSatisfy {
            result.samples[0][$0] == frame.samples[0][$0]
          }, "\(name) \(alpha)")
      }
    }
  }
}
