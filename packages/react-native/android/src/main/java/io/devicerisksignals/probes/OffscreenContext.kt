package io.devicerisksignals.probes

import android.opengl.EGL14
import android.opengl.EGLConfig
import android.opengl.EGLDisplay
import android.opengl.GLES20
import java.io.Closeable
import java.nio.ByteBuffer
import java.nio.ByteOrder

private const val SIDE_PX = 256
private const val CHANNEL_BITS = 8
private const val GLES2 = 2

/**
 * An OpenGL ES 2 context of the calling thread that draws off screen.
 *
 * @throws IllegalStateException if the device provides no context.
 */
internal class OffscreenContext : Closeable {
  private val display: EGLDisplay = EGL14.eglGetDisplay(EGL14.EGL_DEFAULT_DISPLAY)
  private val end = ArrayList<() -> Unit>()

  init {
    try {
      open()
    } catch (failure: IllegalStateException) {
      close()
      throw failure
    }
  }

  private fun open() {
    val version = IntArray(2)
    check(display != EGL14.EGL_NO_DISPLAY && EGL14.eglInitialize(display, version, 0, version, 1))
    end += { EGL14.eglTerminate(display) }
    end += { EGL14.eglReleaseThread() }
    val config = chooseConfig()

    val contextList = intArrayOf(EGL14.EGL_CONTEXT_CLIENT_VERSION, GLES2, EGL14.EGL_NONE)
    val context = EGL14.eglCreateContext(display, config, EGL14.EGL_NO_CONTEXT, contextList, 0)
    check(context != null && context != EGL14.EGL_NO_CONTEXT)
    end += { EGL14.eglDestroyContext(display, context) }

    val surfaceList = intArrayOf(EGL14.EGL_WIDTH, SIDE_PX, EGL14.EGL_HEIGHT, SIDE_PX, EGL14.EGL_NONE)
    val surface = EGL14.eglCreatePbufferSurface(display, config, surfaceList, 0)
    check(surface != null && surface != EGL14.EGL_NO_SURFACE)
    end += { EGL14.eglDestroySurface(display, surface) }

    check(EGL14.eglMakeCurrent(display, surface, surface, context))
    end += { EGL14.eglMakeCurrent(display, EGL14.EGL_NO_SURFACE, EGL14.EGL_NO_SURFACE, EGL14.EGL_NO_CONTEXT) }
  }

  private fun chooseConfig(): EGLConfig {
    val wanted = intArrayOf(
      EGL14.EGL_RENDERABLE_TYPE, EGL14.EGL_OPENGL_ES2_BIT,
      EGL14.EGL_SURFACE_TYPE, EGL14.EGL_PBUFFER_BIT,
      EGL14.EGL_RED_SIZE, CHANNEL_BITS,
      EGL14.EGL_GREEN_SIZE, CHANNEL_BITS,
      EGL14.EGL_BLUE_SIZE, CHANNEL_BITS,
      EGL14.EGL_NONE
    )
    val configs = arrayOfNulls<EGLConfig>(1)
    val count = IntArray(1)
    check(EGL14.eglChooseConfig(display, wanted, 0, configs, 0, 1, count, 0))
    return checkNotNull(configs.first())
  }

  /** Closes everything that was opened, in reverse order. Must be called on the thread that opened the context. */
  override fun close() {
    end.asReversed().forEach { step -> step() }
    end.clear()
  }
}

/** A square that covers the whole surface. Its fragment shader does a measurable amount of work. */
internal class Drawing : Closeable {
  private val program = GLES20.glCreateProgram()

  init {
    val shaders = listOf(compile(GLES20.GL_VERTEX_SHADER, VERTEX), compile(GLES20.GL_FRAGMENT_SHADER, FRAGMENT))
    shaders.forEach { GLES20.glAttachShader(program, it) }
    GLES20.glLinkProgram(program)
    shaders.forEach(GLES20::glDeleteShader)
    val status = IntArray(1).also { GLES20.glGetProgramiv(program, GLES20.GL_LINK_STATUS, it, 0) }
    check(status.first() == GLES20.GL_TRUE)
    GLES20.glUseProgram(program)
    GLES20.glViewport(0, 0, SIDE_PX, SIDE_PX)
    val position = GLES20.glGetAttribLocation(program, "position")
    val bytes = ByteBuffer.allocateDirect(CORNERS.size * Float.SIZE_BYTES).order(ByteOrder.nativeOrder())
    val corners = bytes.asFloatBuffer()
    CORNERS.forEachIndexed { index, corner -> corners.put(index, corner) }
    GLES20.glEnableVertexAttribArray(position)
    GLES20.glVertexAttribPointer(position, 2, GLES20.GL_FLOAT, false, 0, corners)
  }

  fun draw() = GLES20.glDrawArrays(GLES20.GL_TRIANGLE_STRIP, 0, CORNERS.size / 2)

  /** Waits until all drawing has ended. */
  fun finish() = GLES20.glFinish()

  override fun close() = GLES20.glDeleteProgram(program)

  private fun compile(type: Int, source: String): Int {
    val shader = GLES20.glCreateShader(type)
    GLES20.glShaderSource(shader, source)
    GLES20.glCompileShader(shader)
    val status = IntArray(1).also { GLES20.glGetShaderiv(shader, GLES20.GL_COMPILE_STATUS, it, 0) }
    check(status.first() == GLES20.GL_TRUE)
    return shader
  }

  private companion object {
    val CORNERS = floatArrayOf(-1f, -1f, 1f, -1f, -1f, 1f, 1f, 1f)

    const val VERTEX = """
      attribute vec2 position;
      varying vec2 spot;
      void main() {
        spot = position;
        gl_Position = vec4(position, 0.0, 1.0);
      }
    """

    const val FRAGMENT = """
      precision mediump float;
      varying vec2 spot;
      void main() {
        vec2 z = spot;
        for (int i = 0; i < 32; i++) {
          z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) * 0.5 + spot;
        }
        gl_FragColor = vec4(fract(z), 0.5, 1.0);
      }
    """
  }
}
