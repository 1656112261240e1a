@file:OptIn(ExperimentalForeignApi::class)

import kotlinx.cinterop.*
import latchkey.*
import platform.AVFoundation.AVURLAsset

/** The keys of one vendor configuration. Close it after playback. */
class LatchkeyKeys(configuration: String, private val host: Host) {
    interface Host {
        /** Gets credentials for a request (JSON) and calls [answer] once, with JSON or null. Called on a Latchkey thread. */
        fun credentials(request: String, answer: (String?) -> Unit)

        /** Receives an outcome (JSON). Called on a Latchkey thread. */
        fun outcome(outcome: String)
    }

    private var keys: COpaquePointer? = null

    init {
        val self = StableRef.create(host)
        memScoped {
            val error = alloc<CPointerVar<ByteVar>>()
            keys = latchkey_keys_create(
                configuration, self.asCPointer(), staticCFunction(::onCredentials), staticCFunction(::onOutcome), staticCFunction(::onEnd), error.ptr)
            val reason = error.value?.toKString()
            latchkey_text_free(error.value)
            requireNotNull(keys) { reason ?: "no reason" }
        }
    }

    fun protect(asset: AVURLAsset, title: String?) = latchkey_keys_protect(keys, pointer(asset), title)

    fun release(asset: AVURLAsset) = latchkey_keys_release(keys, pointer(asset))

    fun suspend() = latchkey_keys_suspend(keys)

    fun resume() = latchkey_keys_resume(keys)

    fun close() {
        latchkey_keys_free(keys)
        keys = null
    }

    private fun pointer(asset: AVURLAsset): COpaquePointer? = interpretCPointer<CPointed>(asset.objcPtr())
}

private fun onCredentials(data: COpaquePointer?, number: ULong, request: CPointer<ByteVar>?) {
    val host = data!!.asStableRef<LatchkeyKeys.Host>().get()
    host.credentials(request!!.toKString()) { answer ->
        if (answer != null) latchkey_answer(number, answer) else latchkey_refuse(number, null)
    }
}

private fun onOutcome(data: COpaquePointer?, outcome: CPointer<ByteVar>?) {
    data!!.asStableRef<LatchkeyKeys.Host>().get().outcome(outcome!!.toKString())
}

private fun onEnd(data: COpaquePointer?) = data!!.asStableRef<LatchkeyKeys.Host>().dispose()
