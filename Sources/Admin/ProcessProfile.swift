import CProfiler
import Foundation

/// Profiles of this process. Linux only.
enum ProcessProfile {
  /// The reasons why there is no profile.
  enum Failure: Error {
    case isRunning
    case unavailable
  }

  private static let period: UInt32 = 10_000

  /// Samples where the process spends its processor time, 100 times per second of it.
  ///
  /// - Returns: A profile in the format of gperftools, which `pprof` reads.
  /// - Throws: ``Failure``; `CancellationError`, after it has stopped.
  static func processorTime(for duration: Duration) async throws -> [UInt8] {
    switch cprofiler_start(self.period) {
    case 0: break
    case -EBUSY: throw Failure.isRunning
    default: throw Failure.unavailable
    }
    let isCancelled = (try? await Task.sleep(for: duration)) == nil
    var count = 0
    let words = cprofiler_stop(&count)
    defer { free(words) }
    if isCancelled { throw CancellationError() }
    // https://gperftools.github.io/gperftools/cpuprofile-fileformat.html: a header, samples, and an end, in words of
    // the machine; then the mapped files, to find functions by addresses.
    let all =
      [0, 3, 0, UInt64(self.period), 0] + UnsafeBufferPointer(start: words, count: count)
      + [0, 1, 0]
    let maps = FileManager.default.contents(atPath: "/proc/self/maps") ?? Data()
    return all.withUnsafeBytes { Array($0) } + maps
  }

  /// The heaps of the allocator, as XML of `malloc_info`.
  ///
  /// - Throws: ``Failure``.
  static func heaps() throws(Failure) -> [UInt8] {
    guard let text = cprofiler_heaps() else { throw .unavailable }
    defer { free(text) }
    return Array(UnsafeRawBufferPointer(start: text, count: strlen(text)))
  }
}
