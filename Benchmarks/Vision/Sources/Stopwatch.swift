import SidelightKernels
import Synchronization

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The processor time of this process. Only one of its threads works.
enum Stopwatch {
  /// Returns the time in milliseconds.
  static func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) / 1e6
  }
}

/// Measures the passes and steps of a frame, by their names.
final class PassTimes: PassObserver {
  private let times = Mutex<[String: Double]>([:])

  func pass<Result: Sendable>(
    _ description: PassDescription, _ body: () async throws -> Result
  ) async throws -> Result {
    let start = Stopwatch.now()
    let result = try await body()
    let time = Stopwatch.now() - start
    self.times.withLock { $0[description.name, default: 0] += time }
    return result
  }

  /// Returns the times in milliseconds since the last call.
  func take() -> [String: Double] {
    self.times.withLock { times in
      defer { times = [:] }
      return times
    }
  }
}
