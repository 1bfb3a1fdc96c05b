/// A function from a pixel's neighbourhood to a pixel: a custom spatial filter.
///
/// The kernel reads RGB for every frame format. In frames with alpha, colour is premultiplied.
/// Positions beyond the frame's edges have the pixels at the edges.
///
/// ```swift
/// struct Emboss: NeighborhoodKernel {
///   var reach: Int { 1 }
///   func callAsFunction(_ window: PixelWindow, at position: PixelPosition) -> Pixel {
///     let (low, high) = (window[-1, -1], window[1, 1])
///     let gray = (high.green - low.green) + 0.5
///     return Pixel(red: gray, green: gray, blue: gray, alpha: window[0, 0].alpha)
///   }
/// }
/// ```
public protocol NeighborhoodKernel: Sendable {
  /// The distance that the kernel reads in every direction, in pixels: 0 ... 64.
  var reach: Int { get }

  /// Returns the pixel's new colour. Must be pure.
  func callAsFunction(_ window: PixelWindow, at position: PixelPosition) -> Pixel

  /// Applies the kernel to a row. The default implementation calls the function for every pixel;
  /// other implementations are not needed.
  func apply(_ window: PixelWindow, to strip: ColorStrip)
}

extension NeighborhoodKernel {
  /// Applies the kernel to all pixels of a row.
  @inlinable
  public func apply(_ window: PixelWindow, to strip: ColorStrip) {
    var window = window
    for index in 0 ..< strip.count {
      window.x = strip.x + index
      strip[index] = self(window, at: PixelPosition(x: window.x, y: strip.y, frame: strip.frame))
    }
  }
}

/// A kernel that takes content equally from opposite sides of a pixel, as means and edge detectors
/// do. It doesn't move content to one side.
protocol SymmetricKernel: NeighborhoodKernel {}

/// The pixels around one pixel. Valid only during the call that receives it.
@safe
@frozen
public struct PixelWindow {
  /// The centre's column.
  @usableFromInline package var x: Int
  @usableFromInline package let reach: Int
  /// The first pixel of the red plane within the frame, per row of the window, from the top.
  @usableFromInline package let rows: UnsafePointer<UnsafePointer<Float>>
  /// Floats from one colour plane of a row to the next.
  @usableFromInline package let planeStride: Int

  package init(reach: Int, rows: UnsafePointer<UnsafePointer<Float>>, planeStride: Int) {
    self.x = 0
    self.reach = reach
    unsafe self.rows = rows
    self.planeStride = planeStride
  }

  /// The pixel at an offset from the centre, to the right and down.
  ///
  /// - Precondition: Neither offset exceeds the kernel's reach.
  @inlinable
  public subscript(dx: Int, dy: Int) -> Pixel {
    precondition(
      max(abs(dx), abs(dy)) <= self.reach, "the kernel looks further than its reach")
    let pixel = unsafe self.rows[dy + self.reach] + (self.x + dx)
    return unsafe Pixel(
      red: pixel[0], green: pixel[self.planeStride], blue: pixel[2 * self.planeStride],
      alpha: pixel[3 * self.planeStride])
  }
}

extension PixelWindow {
  /// Returns the first pixel of a row in a colour plane (0 red, 1 green, 2 blue, 3 alpha).
  ///
  /// - Parameter offset: The row's distance from the centre, down; within the reach.
  package func row(offset: Int, channel: Int) -> UnsafePointer<Float> {
    precondition(abs(offset) <= self.reach, "the kernel looks further than its reach")
    return unsafe self.rows[offset + self.reach] + channel * self.planeStride
  }

  /// Calls `body` with the window's rows, from the top, for C rows. A row's pointer plus the offset
  /// is the first pixel of the run in a colour plane (0 red, 1 green, 2 blue, 3 alpha).
  package func withRows<Result>(
    of strip: ColorStrip, plane: Int = 0,
    _ body: (
      _ rows: UnsafePointer<UnsafePointer<Float>>, _ planeStride: Int, _ offset: Int
    ) -> Result
  ) -> Result {
    unsafe body(self.rows, self.planeStride, plane * self.planeStride + strip.x)
  }

  /// Copies the alpha of the window's centre pixels.
  ///
  /// - Parameter limitsColor: Whether to limit colour to -alpha ... 2 alpha. Colour beyond that
  ///   would become visible when a later filter raises alpha.
  package func copyAlpha(to strip: ColorStrip, limitsColor: Bool) {
    let middle = unsafe self.rows[self.reach] + (3 * self.planeStride + strip.x)
    unsafe strip.alpha.update(from: middle, count: strip.count)
    guard limitsColor else { return }
    func limit(_ channel: UnsafeMutablePointer<Float>) {
      for index in 0 ..< strip.count {
        let alpha = unsafe middle[index]
        unsafe channel[index] = min(max(channel[index], -alpha), 2 * alpha)
      }
    }
    unsafe limit(strip.red)
    unsafe limit(strip.green)
    unsafe limit(strip.blue)
  }
}

extension Pixel {
  /// The pixel with its colour limited to -alpha ... 2 alpha.
  var limitedByAlpha: Pixel {
    func limit(_ value: Float) -> Float { min(max(value, -self.alpha), 2 * self.alpha) }
    return Pixel(
      red: limit(self.red), green: limit(self.green), blue: limit(self.blue), alpha: self.alpha)
  }
}

extension FilterNode {
  /// A custom function of a pixel's neighbourhood.
  ///
  /// - Precondition: The kernel's reach is in 0 ... 64.
  public static func neighborhoodKernel(_ kernel: some NeighborhoodKernel) -> FilterNode {
    precondition((0 ... 64).contains(kernel.reach), "a kernel's reach is 0 ... 64")
    return FilterNode(.window(kernel))
  }
}
