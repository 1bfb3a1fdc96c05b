#if Vision
  import CVision
  import SidelightKernels
  public import SidelightScene
  import Synchronization

  /// Finds frontal faces with a cascade classifier of OpenCV.
  ///
  /// A search finds faces turned by up to about 15 degrees from its angle. It does not find
  /// profiles and backs of heads, and often misses covered faces.
  public struct CascadeFaceFinder: FaceFinder {
    /// A cascade that Debian's package `opencv-data` contains.
    ///
    /// The box of `alt2` is the canonical box. The other model's box is within 1 % of its size and
    /// 2 % of its position on average, measured on a portrait at 54 sizes and positions.
    public enum Model: String, Sendable, Hashable, CaseIterable {
      /// Haar features, `haarcascade_frontalface_alt2`: finds the most faces, with the fewest false
      /// boxes.
      case alt2
      /// Local binary patterns, `lbpcascade_frontalface`: four times faster, and finds fewer faces
      /// that are small or turned.
      case localBinaryPatterns

      /// The path of the file in the folder of OpenCV's data.
      var file: String {
        switch self {
        case .alt2: "haarcascades/haarcascade_frontalface_alt2.xml"
        case .localBinaryPatterns: "lbpcascades/lbpcascade_frontalface.xml"
        }
      }

      /// The number of overlapping detections at which a face is as good as certain.
      var fullSupport: Double {
        switch self {
        case .alt2: 30
        case .localBinaryPatterns: 15
        }
      }
    }

    /// The folder in which Debian's package `opencv-data` puts its files.
    public static let debianFolder = "/usr/share/opencv4"

    /// The largest angle in radians between a face and the search that finds it. Half of the faces
    /// are found at 20 degrees, and a tenth at 30.
    private static let rollTolerance = 0.35

    /// The minimum side of a face, as a part of the picture's height, in searches without a range.
    public var minSize: Double

    private let model: Model
    private let pool: InstancePool<Cascade, any Error>

    /// Creates a finder, and loads the cascade unless another finder has loaded it.
    ///
    /// - Parameters:
    ///   - model: The cascade.
    ///   - folder: The folder of OpenCV's data.
    ///   - minSize: The minimum side of a face, as a part of the picture's height.
    /// - Throws: ``VisionError`` if the file cannot be read.
    public init(
      _ model: Model = .alt2, folder: String = CascadeFaceFinder.debianFolder,
      minSize: Double = 0.125
    ) throws {
      self.model = model
      self.minSize = minSize
      self.pool = try Cascade.pool(path: "\(folder)/\(model.file)")
    }

    /// Returns the upright faces of a picture.
    public func faces(in picture: LumaPicture) throws -> [DetectedFace] {
      try self.faces(in: picture, color: nil, search: FaceSearch())
    }

    /// Returns the faces that a search includes. Their roll is the search's angle.
    public func faces(
      in picture: LumaPicture, color: ColorPicture?, search: FaceSearch
    ) throws -> [DetectedFace] {
      let window = Window(search, in: picture)
      let largest = Double(Cascade.largestSide)
      let least = min(largest, max(0, self.minSize * Double(picture.height)))
      let sizes = search.sizes ?? least ... largest
      let found = try self.pool.withInstance { cascade in
        try cascade.boxes(
          in: picture, window: window,
          scale: search.effort == .thorough ? 1.1 : 1.2,
          sizes: sizes)
      }
      return found.map { box in
        DetectedFace(
          center: window.transform(
            PicturePoint(
              x: Double(box.x) + Double(box.width) / 2,
              y: Double(box.y) + Double(box.height) / 2)),
          size: window.transform.scale * Double(box.width),
          roll: search.angle, rollTolerance: Self.rollTolerance,
          confidence: min(1, Double(box.support) / self.model.fullSupport))
      }
      // A window reaches less far than the square that it is rounded up to.
      .filter(search.includes)
    }

    /// The pixels that a cascade searches, and where they are in the picture.
    struct Window {
      let width: Int
      let height: Int
      /// Whether the window is the picture itself.
      let isWhole: Bool
      /// The movement from the window to the picture.
      let transform: SimilarityTransform

      init(_ search: FaceSearch, in picture: LumaPicture) {
        if let window = search.window {
          let side = max(1, min(window.side, Double(Cascade.largestSide)).rounded(.up))
          self.width = Int(side)
          self.height = Int(side)
          self.isWhole = false
          self.transform = SimilarityTransform(
            scale: 1, rotation: search.angle, from: PicturePoint(x: side / 2, y: side / 2),
            to: window.center)
        } else {
          self.width = picture.width
          self.height = picture.height
          self.isWhole = search.angle == 0
          let center = PicturePoint(
            x: Double(picture.width) / 2, y: Double(picture.height) / 2)
          self.transform = SimilarityTransform(
            scale: 1, rotation: search.angle, from: center, to: center)
        }
      }
    }
  }

  /// A loaded cascade.
  @safe
  private final class Cascade: @unchecked Sendable {  // the pool lends it to one thread at a time
    /// The largest side of a window in pixels. Frames are reduced far below it.
    static let largestSide = 4096
    /// The maximum number of faces that a search returns.
    private static let capacity = 64
    /// Windows with a lower mean are equalized: the cascades miss faces in the dark.
    private static let darkMean = 40.0

    private static let pools = Mutex<[String: InstancePool<Cascade, any Error>]>([:])

    /// Returns the pool of all finders with the same file. Loading a cascade takes up to 12 ms.
    static func pool(path: String) throws -> InstancePool<Cascade, any Error> {
      try self.pools.withLock { pools in
        if let pool = pools[path] { return pool }
        let pool = InstancePool<Cascade, any Error> { try Cascade(path: path) }
        try pool.prepare()
        pools[path] = pool
        return pool
      }
    }

    private let handle: OpaquePointer

    private init(path: String) throws(VisionError) {
      guard let handle = unsafe cvision_cascade_open(path) else {
        throw VisionError(
          .unreadable, "the cascade \(path) cannot be loaded: \(VisionError.lastFailure)")
      }
      unsafe self.handle = handle
    }

    deinit { unsafe cvision_cascade_close(self.handle) }

    func boxes(
      in picture: LumaPicture, window: CascadeFaceFinder.Window, scale: Double,
      sizes: ClosedRange<Double>
    ) throws(VisionError) -> [cvision_box] {
      guard max(picture.width, picture.height) <= Self.largestSide else {
        throw VisionError(
          .limitExceeded,
          "the picture is \(picture.width)x\(picture.height); its sides must be at most "
            + "\(Self.largestSide)"
        )
      }
      let largest = Double(Self.largestSide)
      var boxes = [cvision_box](repeating: cvision_box(), count: Self.capacity)
      let count = unsafe picture.samples.withUnsafeBufferPointer { samples in
        var search = unsafe cvision_search()
        unsafe search.samples = samples.baseAddress
        unsafe search.width = Int32(picture.width)
        unsafe search.height = Int32(picture.height)
        unsafe search.window_width = Int32(window.width)
        unsafe search.window_height = Int32(window.height)
        // OpenCV counts positions from the centre of the first pixel.
        let map = window.transform
        let first = map(PicturePoint(x: 0.5, y: 0.5))
        unsafe search.transform = (map.a, -map.b, first.x - 0.5, map.b, map.a, first.y - 0.5)
        unsafe search.is_whole = window.isWhole ? 1 : 0
        unsafe search.equalize_below = Self.darkMean
        unsafe search.scale = scale
        unsafe search.neighbors = 3
        unsafe search.least = Int32(min(largest, max(1, sizes.lowerBound.rounded(.down))))
        unsafe search.most = Int32(min(largest, max(1, sizes.upperBound.rounded(.up))))
        return unsafe cvision_cascade_find(self.handle, &search, &boxes, Int32(Self.capacity))
      }
      guard count >= 0 else {
        throw VisionError(.failed, "the search for faces failed: \(VisionError.lastFailure)")
      }
      return Array(boxes.prefix(Int(count)))
    }
  }
#endif
