import Foundation
import SidelightKernels
import SidelightTestSupport
import SidelightWire

extension ModelPipeline {
  /// Whether an output is the pipeline's result for an input, as far as the model can tell: shifts
  /// are exact in every format; inversion is exact in RGB and grey, and within a level for luma in
  /// video range without other stages. Files are exactly the codec's result for such samples.
  func makes(_ output: Sidelight_V1_Image, of input: Sidelight_V1_Image) -> Bool {
    if input.format == .jpeg { return self.makes(file: output, of: input) }
    guard let format = PixelFormat(input.format) else { return false }
    var expected = input.packedSamples(format)
    let actual = [UInt8](output.inline)
    guard output.planes.isEmpty, actual.count == expected.count else { return false }
    if format == .i420 || format == .nv12, self.active.contains(where: { $0.content == .invert }) {
      guard self.active.count == 1 else { return true }
      let luma = Int(input.width) * Int(input.height)
      return zip(expected[..<luma], actual).allSatisfy { before, after in
        let inverted = 251 - min(max(Int(before), 16), 235)
        return abs(min(max(Int(after), 16), 235) - inverted) <= 1
      }
    }
    for stage in self.active {
      switch stage.content {
      case .shift(let by, _): expected.shift(by)
      case .invert:
        let hasAlpha = format == .bgra8 || format == .rgba8
        for index in expected.indices where !hasAlpha || index % 4 != 3 {
          expected[index] = 255 - expected[index]
        }
      case .broken: return false
      }
    }
    return expected == actual
  }
}

extension ModelPipeline {
  private func makes(file output: Sidelight_V1_Image, of input: Sidelight_V1_Image) -> Bool {
    guard output.format == .jpeg, let before = try? input.decoded() else { return false }
    let isExact = self.active.allSatisfy { if case .shift = $0.content { true } else { false } }
    guard isExact else {
      return self.broken == nil && (try? output.decoded().size) == before.size
    }
    var samples = before.bytes
    for stage in self.active {
      if case .shift(let by, _) = stage.content { samples.shift(by) }
    }
    var expected = Sidelight_V1_Image(before)
    expected.inline = Data(samples)
    return (try? expected.makeFrame().jpeg()) == output.inline
  }
}

extension [UInt8] {
  fileprivate mutating func shift(_ by: Int) {
    for index in self.indices { self[index] &+= UInt8(by) }
  }
}

extension Sidelight_V1_Image {
  /// The samples without padding.
  fileprivate func packedSamples(_ format: PixelFormat) -> [UInt8] {
    let bytes = [UInt8](self.inline)
    guard !self.planes.isEmpty else { return bytes }
    return self.planes.enumerated().flatMap { plane, layout in
      (0 ..< format.rowCount(plane: plane, height: Int(self.height))).flatMap { row in
        let start = Int(layout.offset) + row * Int(layout.stride)
        return bytes[start ..< start + format.rowByteCount(plane: plane, width: Int(self.width))]
      }
    }
  }
}
