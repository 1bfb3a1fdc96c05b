/// A function from a pixel's neighbourhood to a pixel: a spatial filter of your own.
///
/// Whatever the frame's format, it sees RGB. Where there is alpha, colour is premultiplied; beyond
/// the frame's edges lie the pixels at the edges.
///
/// ```swift
/// struct Emboss: NeighborhoodKernel {
///   var reach: Int { 1 }
///   func callAsFunction(_ window: PixelWindow, at place: Place) -> Pixel {
///     let (low, high) = (window[-1, -1], window[1, 1])
///     let gray = (high.green - low.green) + 0.5
///     return Pixel(red: gray, green: gray, blue: gray, alpha: window[0, 0].alpha)
///   }
/// }
/// ```
public protocol NeighborhoodKernel: Sendable {
  /// How far the kernel looks in each direction, in pixels: 0 ... 64.
  var reach: Int { get }

  /// The pixel's new colour. Must be pure.
  func callAsFunction(_ window: PixelWindow, at place: Place) -> Pixel

  /// Applies the kernel to a row. There is no need to write this one: the default calls the function
  /// for each pixel.
  func apply(_ window: PixelWindow, to strip: ColorStrip)
}

extension NeighborhoodKernel {
  /// Applies the kernel to each pixel of a row.
  @inlinable
  public func apply(_ window: PixelWindow, to strip: ColorStrip) {
    var window = window
    for index in 0 ..< strip.count {
      window.x = strip.x + index
      strip[index] = self(window, at: Place(x: window.x, y: strip.y, frame: strip.frame))
    }
  }
}

/// The pixels round one pixel. Valid only during the call that gets it.
@safe
@frozen
public struct PixelWindow {
  /// The middle's column.
  @usableFromInline var x: Int
  @usableFromInline let reach: Int
  /// For each row of the window, from the top: its red plane's first pixel within the frame.
  @usableFromInline let rows: UnsafePointer<UnsafePointer<Float>>
  /// Floats from one colour plane of a row to the next.
  @usableFromInline let planeStride: Int

  init(reach: Int, rows: UnsafePointer<UnsafePointer<Float>>, planeStride: Int) {
    self.x = 0
    self.reach = reach
    unsafe self.rows = rows
    self.planeStride = planeStride
  }

  /// The pixel at an offset from the middle, to the right and down.
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
  /// Calls `body` with the window's rows, from the top, for rows in C: at a row's start plus the
  /// offset lies the run's first pixel of a colour plane (0 red, 1 green, 2 blue, 3 alpha).
  func withRows<Result>(
    of strip: ColorStrip, plane: Int = 0,
    _ body: (
      _ rows: UnsafePointer<UnsafePointer<Float>>, _ planeStride: Int, _ offset: Int
    ) -> Result
  ) -> Result {
    unsafe body(self.rows, self.planeStride, plane * self.planeStride + strip.x)
  }

  /// Passes on the alpha of the pixels in the middle.
  ///
  /// - Parameter limitsColor: Whether colour is to be kept within -alpha ... 2 alpha: beyond that,
  ///   colour that nobody can see would come back as soon as alpha does.
  func copyAlpha(to strip: ColorStrip, limitsColor: Bool) {
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
  /// The pixel with its colour kept within -alpha ... 2 alpha.
  var limitedByAlpha: Pixel {
    func limit(_ value: Float) -> Float { min(max(value, -self.alpha), 2 * self.alpha) }
    return Pixel(
      red: limit(self.red), green: limit(self.green), blue: limit(self.blue), alpha: self.alpha)
  }
}
