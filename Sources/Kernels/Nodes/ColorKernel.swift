/// A function from a pixel and its position to a pixel: a custom colour filter.
///
/// The planner fuses it with its neighbours in the pipeline: a chain of such filters is one pass
/// over memory. Conform a struct instead of wrapping a closure: its loop is compiled for the
/// concrete type, and the call is inlined.
///
/// ```swift
/// struct Solarize: ColorKernel {
///   func callAsFunction(_ pixel: Pixel, at position: PixelPosition) -> Pixel {
///     Pixel(
///       red: abs(2 * pixel.red - 1), green: abs(2 * pixel.green - 1),
///       blue: abs(2 * pixel.blue - 1), alpha: pixel.alpha)
///   }
/// }
/// ```
public protocol ColorKernel: Sendable {
  /// Returns the pixel's new colour. Must be pure.
  ///
  /// - Parameters:
  ///   - pixel: Gamma-encoded sRGB with straight alpha: 0 ... 1, and beyond if earlier filters
  ///     exceeded it. Alpha is 1 in opaque pictures; changes of alpha are ignored there.
  ///   - position: The pixel's position.
  func callAsFunction(_ pixel: Pixel, at position: PixelPosition) -> Pixel

  /// Applies the kernel to a run of pixels. The default implementation calls the function for every
  /// pixel; other implementations are not needed.
  func apply(to strip: ColorStrip)
}

extension ColorKernel {
  /// Applies the kernel to all pixels of a strip.
  @inlinable
  public func apply(to strip: ColorStrip) {
    for index in 0 ..< strip.count {
      let position = PixelPosition(x: strip.x + index, y: strip.y, frame: strip.frame)
      strip[index] = self(strip[index], at: position)
    }
  }
}

/// A run of pixels of one row, modified in place. Valid only during the call that receives it.
@safe
@frozen
public struct ColorStrip {
  @usableFromInline package let red: UnsafeMutablePointer<Float>
  @usableFromInline package let green: UnsafeMutablePointer<Float>
  @usableFromInline package let blue: UnsafeMutablePointer<Float>
  @usableFromInline package let alpha: UnsafeMutablePointer<Float>
  /// The number of pixels.
  public let count: Int
  /// The first pixel's column.
  public let x: Int
  /// The row.
  public let y: Int
  /// The frame's number in its stream.
  public let frame: UInt64
  /// The time of the frame's arrival.
  package let arrival: Duration

  package init(_ strip: Strip) {
    unsafe self.red = strip.red
    unsafe self.green = strip.green
    unsafe self.blue = strip.blue
    unsafe self.alpha = strip.alpha
    self.count = strip.count
    self.x = strip.x
    self.y = strip.y
    self.frame = strip.time.index
    self.arrival = strip.time.arrival
  }

  /// The pixel at an index.
  ///
  /// - Precondition: The index lies in `0 ..< count`.
  @inlinable
  public subscript(index: Int) -> Pixel {
    get {
      precondition((0 ..< self.count).contains(index), "the strip has \(self.count) pixels")
      return unsafe Pixel(
        red: self.red[index], green: self.green[index], blue: self.blue[index],
        alpha: self.alpha[index])
    }
    nonmutating set {
      precondition((0 ..< self.count).contains(index), "the strip has \(self.count) pixels")
      unsafe self.red[index] = newValue.red
      unsafe self.green[index] = newValue.green
      unsafe self.blue[index] = newValue.blue
      unsafe self.alpha[index] = newValue.alpha
    }
  }
}

extension FilterNode {
  /// A custom function of one pixel and its position. Fuses with its neighbours.
  public static func colorKernel(_ kernel: some ColorKernel) -> FilterNode {
    FilterNode(
      .kernel(
        StripKernel(
          reference: { pixel, x, y, time in
            let result = kernel(
              Pixel(
                red: Float(pixel.x), green: Float(pixel.y), blue: Float(pixel.z),
                alpha: Float(pixel.w)),
              at: PixelPosition(x: x, y: y, frame: time.index))
            return SIMD4(
              Double(result.red), Double(result.green), Double(result.blue),
              Double(result.alpha))
          },
          apply: { strip in kernel.apply(to: ColorStrip(strip)) })))
  }
}

/// A colour with alpha, nominally in 0 ... 1. Values beyond are not clamped between filters.
@frozen
public struct Pixel: Sendable, Hashable {
  /// Red.
  public var red: Float
  /// Green.
  public var green: Float
  /// Blue.
  public var blue: Float
  /// Opacity.
  public var alpha: Float

  /// Creates a pixel.
  @inlinable
  public init(red: Float, green: Float, blue: Float, alpha: Float = 1) {
    self.red = red
    self.green = green
    self.blue = blue
    self.alpha = alpha
  }

  /// Rec. 709 luma: .2126 r + .7152 g + .0722 b.
  @inlinable
  public var luma: Float { 0.2126 * self.red + 0.7152 * self.green + 0.0722 * self.blue }
}

/// A pixel's position, and its frame's number.
@frozen
public struct PixelPosition: Sendable, Hashable {
  /// The column, from the left, from 0.
  public var x: Int
  /// The row, from the top, from 0.
  public var y: Int
  /// The frame's number in its stream.
  public var frame: UInt64

  /// Creates a position.
  @inlinable
  public init(x: Int, y: Int, frame: UInt64 = 0) {
    self.x = x
    self.y = y
    self.frame = frame
  }
}
