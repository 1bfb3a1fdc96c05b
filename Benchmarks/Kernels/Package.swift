// swift-tools-version: 6.2
import PackageDescription

/// Measures the filter engine, apart from the product so that its peers and tools stay out of it.
let package = Package(
  name: "kernel-benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "sidelight", path: "../..")],
  targets: [
    .executableTarget(
      name: "bench",
      dependencies: [.product(name: "SidelightKernels", package: "sidelight")],
      swiftSettings: [
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
      ])
  ]
)
