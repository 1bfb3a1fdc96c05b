// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "my-filters",
  platforms: [.macOS(.v15)],
  dependencies: [
    // A checkout of Sidelight next to this folder.
    .package(path: "../sidelight"),
    .package(
      url: "https://github.com/swift-server/swift-service-lifecycle",
      from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
  ],
  targets: [
    .executableTarget(
      name: "MyFilters",
      dependencies: [
        .product(name: "SidelightServer", package: "sidelight"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "Logging", package: "swift-log"),
      ])
  ]
)
