package import NIOCore

/// Runs the jobs of tasks that prefer it on an event loop, between the loop's own work. For calls that
/// are served where their connection lives.
package final class EventLoopExecutor: TaskExecutor {
  private let loop: any EventLoop

  /// - Parameter loop: Where jobs run. It must outlive the tasks that prefer it: a loop that is shut down
  ///   takes nothing more.
  package init(_ loop: any EventLoop) {
    self.loop = loop
  }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    self.loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
