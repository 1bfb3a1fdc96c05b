import SidelightKernelLanguage
import SidelightKernels
import Testing

/// Texts that are almost kernels: examples with random changes. `make fuzz TARGET=kernel` does the
/// same for longer, and finds its changes by the code that they reach.
@Suite struct `Kernels with random changes` {
  /// The words and symbols that are inserted.
  static let pieces =
    KernelExamples.all.flatMap { $0.split { " \n(),.".contains($0) }.map(String.init) }
    + [
      "(", ")", ",", ".", "?", ":", "/ 0", "sample(1, 2)", "1e30", "color", "frame", "#ff0000",
      "warp", "pass", "var", "for i in 0..<9 {", "if", "{", "}", "[", "]", "+=",
      "func f(a: vec2) -> float {",
      "sampleAt(position.yx)", "hash(position)", "image back",
    ]

  @Test(arguments: 0 ..< 16)
  func `are refused at a position, or give finite numbers`(_ seed: UInt64) throws {
    var random = TestRandom(seed: seed)
    var accepted = 0
    for _ in 0 ..< 200 {
      var text = KernelExamples.all.randomElement(using: &random) ?? ""
      for _ in 0 ... Int.random(in: 0 ... 2, using: &random) {
        text = Self.changed(text, &random)
      }
      let kernel: KernelText
      do throws(KernelTextError) {
        kernel = try KernelText(text)
      } catch {
        #expect((0 ... text.utf8.count).contains(error.position.utf8Offset))
        #expect(!error.message.isEmpty)
        continue
      }
      accepted += 1
      #expect(kernel.nanosecondsPerPixel <= KernelText.maxNanosecondsPerPixel)
      // Its pictures would have to be given.
      guard kernel.parameters.allSatisfy({ $0.kind != .asset }) else { continue }
      guard text.utf8.count <= Pipeline.maxTextBytes else { continue }
      let images = kernel.parameters.filter { $0.assetKind == .image }
      guard images.allSatisfy(\.acceptsSource) else { continue }
      var call = Dictionary(
        uniqueKeysWithValues: images.map { ($0.name, ParameterValue.text(Asset.sourceName)) })
      call["source"] = .text(text)
      let resolved = try FilterCatalogue.builtIn.resolve([.filter("kernel", call)])
      let geometry = FrameGeometry(format: .rgba8, size: FrameSize(width: 64, height: 16))
      guard case .filter(_, _, let filter) = resolved.stages[0].content else { continue }
      for case .kernel(let kernel) in filter.nodes(for: geometry).map(\.kind) {
        let areFinite = Self.run(kernel).allSatisfy { $0.isFinite }
        #expect(areFinite, "\(text)")
      }
    }
    #expect((1 ..< 200).contains(accepted))
  }

  private static func changed(_ text: String, _ random: inout TestRandom) -> String {
    var bytes = Array(text.utf8)
    let position = Int.random(in: 0 ..< max(bytes.count, 1), using: &random)
    let piece = Array((Self.pieces.randomElement(using: &random) ?? "").utf8)
    switch Int.random(in: 0 ... 3, using: &random) {
    case 0: bytes.insert(contentsOf: [0x20] + piece + [0x20], at: position)
    case 1: bytes.removeSubrange(position ..< min(position + 5, bytes.count))
    case 2: bytes[position] = UInt8.random(in: 0x20 ... 0x7E, using: &random)
    default:
      let end = min(position + Int.random(in: 1 ... 9, using: &random), bytes.count)
      bytes.replaceSubrange(position ..< end, with: piece)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func run(_ kernel: StripKernel) -> [Float] {
    var floats = (0 ..< 256).map { Float($0 % 97) / 64 - 0.25 }
    unsafe floats.withUnsafeMutableBufferPointer { floats in
      guard let base = floats.baseAddress else { return }
      unsafe kernel.apply(
        Strip(
          red: base, green: base + 64, blue: base + 128, alpha: base + 192, count: 61, x: 3, y: 2,
          time: FrameTime(index: 9, arrival: .seconds(7))))
    }
    return floats
  }
}
