/**
 * The script of the wasm threads, for pages whose policy allows no `blob:` workers: its URL is the
 * option `threadScript`. Built, it is the text itself, without imports.
 */
import "@kiln-ml/runtime/wasm-worker";
