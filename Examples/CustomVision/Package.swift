// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "custom-vision",
  platforms: [.macOS(.v15)],
  products: [.executable(name: "CustomVision", targets: ["CustomVision"])],
  traits: [
    .trait(name: "Vision", description: "Sidelight with faces and models (needs OpenCV)"),
    .trait(name: "Codecs", description: "Sidelight with encoded video (needs its libraries)"),
  ],
  dependencies: [
    .package(
      name: "sidelight", path: "../..",
      traits: [
        .trait(name: "Vision", condition: .when(traits: ["Vision"])),
        .trait(name: "Codecs", condition: .when(traits: ["Codecs"])),
      ]),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
  ],
  targets: [
    .executableTarget(
      name: "CustomVision",
      dependencies: [
        .product(name: "SidelightServer", package: "sidelight"),
        .product(name: "SidelightFilterProcesses", package: "sidelight"),
        .product(name: "SidelightVision", package: "sidelight"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "Logging", package: "swift-log"),
      ])
  ]
)
