// Parts of browsers that the types of TypeScript 4.8 lack.

interface OffscreenCanvasRenderingContext2D
  extends CanvasState, CanvasTransform, CanvasCompositing, CanvasImageSmoothing, CanvasRect,
    CanvasDrawImage, CanvasImageData, CanvasPathDrawingStyles, CanvasPath {
  readonly canvas: OffscreenCanvas;
}

declare class OffscreenCanvas extends EventTarget {
  constructor(width: number, height: number);
  width: number;
  height: number;
  getContext(type: "2d", options?: object): OffscreenCanvasRenderingContext2D | null;
  convertToBlob(options?: { type?: string; quality?: number }): Promise<Blob>;
}

declare class VideoFrame {
  constructor(image: OffscreenCanvas, options: { timestamp: number });
  readonly timestamp: number;
  close(): void;
}

declare function createImageBitmap(
  image: ImageBitmapSource | OffscreenCanvas | VideoFrame): Promise<ImageBitmap>;

interface CanvasDrawImage {
  drawImage(
    image: OffscreenCanvas, x: number, y: number, width: number, height: number): void;
  drawImage(
    image: CanvasImageSource | OffscreenCanvas, sourceX: number, sourceY: number,
    sourceWidth: number, sourceHeight: number, x: number, y: number, width: number,
    height: number): void;
}

interface CanvasPath {
  roundRect(x: number, y: number, width: number, height: number, radius: number): void;
}

interface VideoFrameCallbackMetadata {
  captureTime?: number;
}
