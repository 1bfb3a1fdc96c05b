import FuzzDriver
import SidelightCodecs
import SidelightKernelLanguage
import SidelightKernels

// Reads the file of an asset as the server does: the server reserves memory by the header,
// so decoded data must not be larger. A plan must be able to use an accepted asset.

let limits = ImageLimits(maxPixels: 1 << 16)
let pool = BufferPool(maxIdleBytes: 0)

/// Plans a small frame with a filter that uses the asset.
func plan(_ asset: Asset, _ filter: String, _ parameters: [String: ParameterValue]) {
  var catalogue = FilterCatalogue.builtIn
  catalogue.assets = AssetStore(["it": asset])
  let pipeline: Pipeline = [.filter(filter, parameters.merging(["asset": .text("it")]) { $1 })]
  guard let resolved = try? catalogue.resolve(pipeline) else {
    preconditionFailure("\(filter) does not find the asset")
  }
  for format in [PixelFormat.i420, .bgra8] {
    let geometry = FrameGeometry(format: format, size: FrameSize(width: 33, height: 17))
    let plan = resolved.plan(for: geometry)
    precondition(
      plan.output == geometry && plan.refusal == nil, "an asset changes the frame's shape")
  }
}

/// Corrects the checksums of the chunks of a PNG. Mutations do not find valid checksums, and the reader
/// stops at an invalid one.
func withValidChecksums(_ png: [UInt8]) -> [UInt8] {
  var png = png
  var start = 8
  while start + 12 <= png.count {
    let length = png[start ..< start + 4].reduce(0) { $0 << 8 | Int($1) }
    let end = start + 8 + length
    guard end + 4 <= png.count else { break }
    var sum = UInt32.max
    for byte in png[start + 4 ..< end] {
      sum ^= UInt32(byte)
      for _ in 0 ..< 8 { sum = sum >> 1 ^ (sum & 1 == 1 ? 0xEDB8_8320 : 0) }
    }
    sum = ~sum
    for index in 0 ..< 4 { png[end + index] = UInt8(truncatingIfNeeded: sum >> (24 - 8 * index)) }
    start = end + 4
  }
  return png
}

func readPicture(_ file: RawSpan) {
  let header = try? ImageDecoder.size(of: file, limits: limits)
  guard let frame = try? ImageDecoder(pool: pool, limits: limits).decode(file) else { return }
  precondition(frame.size == header, "the header states \(String(describing: header))")
  precondition(frame.size.pixelCount <= limits.maxPixels, "the picture exceeds the limits")
  guard let image = try? ImageAsset(frame) else {
    preconditionFailure("a decoded frame is not accepted as an image")
  }
  for fit in ["fit", "fill", "stretch"] {
    plan(.image(image), "overlay", ["fit": .text(fit)])
  }
}

func readTable(_ file: [UInt8]) {
  let header = try? CubeFile.shape(of: file)
  guard let cube = try? CubeFile.read(file) else { return }
  precondition(cube.shape == header, "the header states \(String(describing: header))")
  for index in 0 ..< cube.entries.count {
    precondition(abs(cube.entries[index]) <= 1e6, "\(cube.entries[index]) is out of range")
  }
  precondition(cube.shape.byteCount >= 2 * 4 * cube.entries.count, "the stated size is too small")
  plan(.cube(cube), "colorCube", [:])
}

fuzz { file in
  let bytes = file.withUnsafeBytes { [UInt8]($0) }
  switch ImageFileFormat(sniffing: file) {
  case .png: readPicture(withValidChecksums(bytes).span.bytes)
  case .jpeg: readPicture(file)
  case nil: readTable(bytes)
  }
}
