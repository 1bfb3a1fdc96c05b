public import SidelightKernels
import SidelightWire
import SwiftProtobuf

/// The results of other sessions of the same caller in one picture, which the server makes at a
/// frame rate. A session with a composition (``SessionOptions/composition``) filters these pictures
/// and sends none.
///
/// ```swift
/// let grid = CompositionOptions(
///   size: FrameSize(width: 1280, height: 720),
///   sources: [.init(participant: "ada", label: "camera"), .init(participant: "ben", label: "camera")])
/// try await client.withSession(SessionOptions(composition: grid)) { session in
///   for try await case .filtered(let frame) in session.outcomes { record(frame.picture) }
/// }
/// ```
///
/// Every picture shows the newest result of every source, and a plain dark cell for a source without
/// a result, or whose results may not be shown; see `Composition` of the contract.
public struct CompositionOptions: Sendable, Hashable {
  /// The arrangement of the sources.
  public enum Layout: Sendable, Hashable {
    /// Rows of equal cells.
    case grid
    /// One row of equal cells.
    case sideBySide
    /// The first source fills the picture, the others are small at its lower edge, from the right.
    case pictureInPicture
  }

  /// A source: the caller's newest session with a participant and a label.
  public struct Source: Sendable, Hashable {
    /// A rectangle in fractions of the composed picture's width and height.
    public struct Cell: Sendable, Hashable {
      /// The left edge.
      public var x: Double
      /// The top edge.
      public var y: Double
      /// The width.
      public var width: Double
      /// The height.
      public var height: Double

      /// Creates a rectangle.
      public init(x: Double, y: Double, width: Double, height: Double) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
      }
    }

    /// - `participant` (default: empty): ``SessionOptions/participant`` of the session.
    public var participant: String
    /// - `label` (default: empty): ``SessionOptions/label`` of the session.
    public var label: String
    /// - `cell` (optional, default: the layout's): the place in the picture.
    public var cell: Cell?

    /// Creates a source.
    public init(participant: String = "", label: String = "", cell: Cell? = nil) {
      self.participant = participant
      self.label = label
      self.cell = cell
    }
  }

  /// - `size`: the size of the picture; sides of 2 or more.
  public var size: FrameSize
  /// - `frameRate` (frames a second, range: 1-120, default: 30).
  public var frameRate: Double
  /// - `layout` (default: grid): the arrangement.
  public var layout: Layout
  /// - `fit` (default: fit, between black bars): the fit of a result into its cell.
  public var fit: PictureFit
  /// - `sources`: 1 to 16 sources in the order of the cells, from back to front.
  public var sources: [Source]

  /// Creates a composition. The server refuses a value that is out of range.
  public init(
    size: FrameSize, frameRate: Double = 30, layout: Layout = .grid, fit: PictureFit = .fit,
    sources: [Source]
  ) {
    self.size = size
    self.frameRate = frameRate
    self.layout = layout
    self.fit = fit
    self.sources = sources
  }
}

extension Sidelight_V1_Composition {
  init(_ composition: CompositionOptions) {
    self.init()
    self.width = UInt32(clamping: composition.size.width)
    self.height = UInt32(clamping: composition.size.height)
    self.frameRate = composition.frameRate
    self.layout =
      switch composition.layout {
      case .grid: .grid
      case .sideBySide: .sideBySide
      case .pictureInPicture: .pictureInPicture
      }
    self.fit = Sidelight_V1_FitMode(composition.fit)
    self.sources = composition.sources.map { source in
      .with {
        $0.participant = source.participant
        $0.label = source.label
        guard let cell = source.cell else { return }
        $0.cell.x = cell.x
        $0.cell.y = cell.y
        $0.cell.width = cell.width
        $0.cell.height = cell.height
      }
    }
  }
}
