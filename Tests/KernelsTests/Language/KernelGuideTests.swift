import SidelightKernelLanguage
import SidelightKernels
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The examples of docs/guides/kernels.md.
enum KernelExamples {
  /// The texts between the lines "```kernel" and "```".
  static let all: [String] = {
    let path = "\(#filePath)".split(separator: "/", omittingEmptySubsequences: false).dropLast(4)
      .joined(separator: "/")
    guard let file = unsafe fopen("\(path)/docs/guides/kernels.md", "r") else { return [] }
    defer { unsafe fclose(file) }
    var bytes: [UInt8] = []
    while case let byte = unsafe fgetc(file), byte >= 0 { bytes.append(UInt8(byte)) }
    let blocks = String(decoding: bytes, as: UTF8.self).split(separator: "```kernel\n").dropFirst()
    return blocks.compactMap { $0.split(separator: "```").first.map(String.init) }
  }()
}

/// The examples of the guide are valid, and match their descriptions.
@Suite struct `The guide to kernels` {
  @Test func `there are examples of each kind`() throws {
    let kernels = try KernelExamples.all.map { try KernelText($0, requiresHeader: true) }
    #expect(
      kernels.map(\.name)
        == ["glow", "softFocus", "crispen", "pond", "frostedGlass", "softLight"])
    for kernel in kernels {
      #expect(!kernel.summary.isEmpty)
      #expect(kernel.nanosecondsPerPixel > 0)
      for parameter in kernel.parameters { #expect(!parameter.summary.isEmpty) }
    }
    #expect(
      kernels.filter { $0.reach == .neighborhood }.map(\.name)
        == ["softFocus", "crispen", "pond", "frostedGlass"])
  }

  @Test(arguments: KernelExamples.all)
  func `an example changes a picture as its reference does`(_ text: String) async throws {
    var bench = TestBench()
    bench.catalogue.assets = AssetStore(["look": .kernel(try KernelAsset(Array(text.utf8)))])
    var call: [String: ParameterValue] = ["asset": .text("look")]
    for parameter in try KernelText(text).parameters where parameter.assetKind == .image {
      call[parameter.name] = .text(Asset.sourceName)
    }
    let pipeline: Pipeline = [.filter("kernel", call)]
    for format in [PixelFormat.bgra8, .i420] {
      let frame = try TestFrame.make(
        FrameGeometry(
          format: format, size: FrameSize(width: 45, height: 31),
          color: ColorDescription(alpha: .opaque)))
      let result = try await bench.run(pipeline, on: frame)
      #expect(result.samples != frame.samples)
      let expected = try bench.reference(pipeline, on: frame)
      #expect(result.worstDifference(from: expected) <= 1)
    }
  }
}
