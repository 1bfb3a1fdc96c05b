import BenchmarkSupport
import SidelightKernels
import SidelightVision
import Synchronization

/// The times of searches for faces.
final class FinderTimes: Sendable {
  private let looks = Mutex<[Double]>([])

  /// Makes a configuration search using a cascade whose looks at known faces are measured.
  func install(in vision: inout VisionConfiguration) throws {
    #if Vision
      let cascade = try CascadeFaceFinder(.alt2, folder: CascadeFaceFinder.debianFolder)
      vision.faceFinder = { MeasuredFinder(cascade: cascade, times: self) }
    #else
      throw UsageError(description: "this program is built without Vision")
    #endif
  }

  /// Returns the milliseconds of the looks since the last call.
  func takeLooks() -> [Double] {
    self.looks.withLock { looks in
      defer { looks = [] }
      return looks
    }
  }

  fileprivate func add(_ time: Double) {
    self.looks.withLock { $0.append(time) }
  }
}

#if Vision
  /// A cascade whose searches of a part of the picture are measured.
  private struct MeasuredFinder: FaceFinder {
    var cascade: CascadeFaceFinder
    let times: FinderTimes

    mutating func faces(in picture: LumaPicture) throws -> [DetectedFace] {
      try self.cascade.faces(in: picture)
    }

    mutating func faces(
      in picture: LumaPicture, color: ColorPicture?, search: FaceSearch
    ) throws -> [DetectedFace] {
      let start = Stopwatch.now()
      let found = try self.cascade.faces(in: picture, color: color, search: search)
      if search.window != nil { self.times.add(Stopwatch.now() - start) }
      return found
    }
  }
#endif
