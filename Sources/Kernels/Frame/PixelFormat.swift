/// The layout of a frame's samples in memory. Every sample has eight bits.
public enum PixelFormat: String, Sendable, Hashable, CaseIterable {
  /// One plane, four bytes per pixel: blue, green, red, alpha.
  case bgra8
  /// One plane, four bytes per pixel: red, green, blue, alpha.
  case rgba8
  /// One plane, three bytes per pixel: red, green, blue. Always opaque.
  case rgb24
  /// One plane, one byte per pixel: gamma-encoded grey. Always opaque.
  case gray8
  /// Three planes: luma at full size, then Cb and Cr at half width and half height, rounded up.
  case i420
  /// Two planes: luma at full size, then interleaved Cb and Cr at half width and half height,
  /// rounded up.
  case nv12

  /// The number of planes, 1 ... 3.
  public var planeCount: Int {
    switch self {
    case .bgra8, .rgba8, .rgb24, .gray8: 1
    case .nv12: 2
    case .i420: 3
    }
  }

  /// Whether the format stores luma and subsampled chroma, to which ``ColorDescription/range`` and
  /// ``ColorDescription/matrix`` apply.
  public var isYUV: Bool {
    switch self {
    case .i420, .nv12: true
    case .bgra8, .rgba8, .rgb24, .gray8: false
    }
  }

  /// Whether the format stores an alpha channel.
  public var hasAlpha: Bool {
    switch self {
    case .bgra8, .rgba8: true
    case .rgb24, .gray8, .i420, .nv12: false
    }
  }

  /// The bytes of one row of a plane, without padding.
  ///
  /// - Parameters:
  ///   - plane: The plane's index, `0 ..< planeCount`.
  ///   - width: The frame's width in pixels.
  public func rowByteCount(plane: Int, width: Int) -> Int {
    switch (self, plane) {
    case (.bgra8, _), (.rgba8, _): width * 4
    case (.rgb24, _): width * 3
    case (.gray8, _), (.i420, 0), (.nv12, 0): width
    case (.nv12, _): (width + 1) / 2 * 2
    case (.i420, _): (width + 1) / 2
    }
  }

  /// The rows of a plane.
  ///
  /// - Parameters:
  ///   - plane: The plane's index, `0 ..< planeCount`.
  ///   - height: The frame's height in pixels.
  public func rowCount(plane: Int, height: Int) -> Int {
    self.isYUV && plane > 0 ? (height + 1) / 2 : height
  }
}

/// The order of a format's interleaved channels in memory.
package enum PixelOrder {
  /// Whether a byte of a pixel is red (0), green (1) or blue (2), for all of its bytes; `nil` for
  /// formats without interleaved colours.
  package static func colors(of format: PixelFormat) -> [Int]? {
    switch format {
    case .bgra8: [2, 1, 0]
    case .rgba8, .rgb24: [0, 1, 2]
    case .gray8, .i420, .nv12: nil
    }
  }
}
