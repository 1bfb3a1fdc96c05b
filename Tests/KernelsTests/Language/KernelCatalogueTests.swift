import SidelightKernelLanguage
import SidelightKernels
import Testing

/// The filters of the catalogue that are kernels.
@Suite("Kernels of the catalogue") struct KernelCatalogueTests {
  /// The names of the filters.
  static let names = KernelCatalogue.texts.map(\.name)

  @Test(arguments: Self.names)
  func `a kernel is valid text of limited cost, and its formula is the code`(
    _ name: String
  ) throws {
    let kernel = try #require(KernelCatalogue.texts.first { $0.name == name })
    // The catalogue only parses it.
    let checked = try KernelText(kernel.bytes, requiresHeader: true)
    #expect(checked.nanosecondsPerPixel < KernelText.maxNanosecondsPerPixel)
    let description = try #require(FilterCatalogue.builtIn.description(named: name))
    #expect(description.name == name)
    #expect(String(decoding: kernel.bytes, as: UTF8.self).contains(description.formula))
  }

  /// The share of samples that may differ, of filters that repeat a rounding error of a position in
  /// many tiles: tiles of two pixels, and a corner between its neighbours, which makes a triangle.
  static let folded = ["fourfoldTranslatedTile": 0.25, "perspectiveTile": 0.75]

  /// Hard edges, and positions that are folded or rounded, may lie on either side of a jump. Such
  /// differences are few.
  @Test(arguments: Self.names, PixelFormat.allCases)
  func `each setting is within the tolerance of the reference`(
    _ name: String, _ format: PixelFormat
  ) async throws {
    var bench = TestBench()
    bench.catalogue = ChainAssets.catalogue
    let filter = try #require(bench.catalogue.description(named: name))
    for (pipeline, isAtLimit) in try filter.derivedSettings(in: bench.catalogue) {
      for color in FormatSweep.colors(format) {
        let geometry = FrameGeometry(
          format: format, size: FrameSize(width: 33, height: 17), color: color)
        let frame = try TestFrame.make(geometry, seed: 3, padding: .ragged)
        let result = try await bench.run(pipeline, on: frame, index: 3)
        let expected = try bench.reference(pipeline, on: frame, index: 3)
        let share = result.share(beyond: isAtLimit ? 3 : 1, of: expected)
        #expect(share <= Self.folded[name] ?? 0.03, "\(pipeline.stages.map(\.content)) \(color)")
      }
    }
  }

  @Test func `affine kernels fold into one matrix`() throws {
    let stages: [Stage] = [
      .filter("sepiaTone"), .filter("exposureAdjust", ["ev": .number(0.3)]),
      .filter("whitePointAdjust", ["color": .vector([1, 0.9, 0.8])]),
      .filter("colorControls", ["contrast": .number(1.1)]),
      .filter("hueAdjust", ["angle": .number(0.2)]), .filter("colorInvert"),
    ]
    let geometry = FrameGeometry(format: .bgra8, size: FrameSize(width: 64, height: 48))
    for stage in stages {
      let resolved = try FilterCatalogue.builtIn.resolve([stage])
      guard case .filter(_, _, let filter) = resolved.stages[0].content,
        case .matrix? = filter.nodes(for: geometry).first?.kind
      else {
        Issue.record("\(stage.content) is not a matrix")
        continue
      }
    }
    let plan = try FilterCatalogue.builtIn.resolve(Pipeline(stages: stages)).plan(for: geometry)
    #expect(plan.passes.count == 1)
  }

  @Test(arguments: [
    ("kernel a \"b\" category: colour color", "expected one of color, effect"),
    ("kernel a coreImage: exact color", "expected one of formula, modelled"),
    ("kernel a example: 3 color", "expected a text in quotes"),
    ("kernel a keywords \"x\" color", "expected ':' after 'keywords'"),
    ("param color: 1 color", "'color' is built in; choose another name, or give it one"),
    ("param a as b: 1 param b: 2 b", "the parameter 'b' is given twice"),
    ("param a: 1 in 1..2 slider 0..2 a", "the slider is outside 1.0 ... 2.0"),
    ("param a: length(3q) a", "a number ends before a name"),
    ("param a: point(3) a", "expected ',' and a length"),
  ])
  func `errors in declarations have a message`(_ source: String, _ message: String) throws {
    let error = try #require(throws: KernelTextError.self) { try KernelText(source) }
    #expect(error.message.contains(message))
  }

  @Test func `lengths, points and angles are pixels and radians in expressions`() throws {
    let text = try KernelText(
      """
      kernel dot "A dot." category: generator coreImage: modelled keywords: "spot"
      param center: point(0.5w, 10px) param color as fill: #ff0000
      param radius: length(0.1min) in 0..100 slider 1..20 param angle: radians(1)
      distance(position, center) < radius ? fill : color
      """)
    #expect(text.parameters.map(\.kind) == [.point, .color, .length, .number])
    let center = FramePoint(x: Length(0.5, .width), y: Length(10))
    #expect(text.parameters[0].defaultValue == .point(center))
    #expect(text.parameters[2].defaultValue == .length(Length(0.1, .shortSide)))
    #expect(text.parameters[2].slider == 1 ... 20 && text.parameters[2].limits == 0 ... 100)
    #expect(text.parameters[3].unit == .radians)
  }
}

extension Frame {
  /// The share of samples that differ from those expected by more than a number of levels.
  ///
  /// Straight colour is weighed by alpha, as by `worstDifference(from:)`.
  fileprivate func share(beyond levels: Double, of expected: [[UInt8]]) -> Double {
    let weighs = self.format.hasAlpha && self.color.alpha == .straight
    var (count, wrong) = (0, 0)
    for (samples, wanted) in zip(self.samples, expected) {
      guard samples.count == wanted.count else { return 1 }
      count += samples.count
      for (index, sample) in samples.enumerated() {
        var difference = abs(Double(sample) - Double(wanted[index]))
        if weighs, index % 4 != 3 {
          difference *= Double(max(samples[index | 3], wanted[index | 3])) / 255
        }
        if difference > levels { wrong += 1 }
      }
    }
    return Double(wrong) / Double(count)
  }
}
