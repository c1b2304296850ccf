// Replaces `libdispatch`. Work for the main queue waits until a test runs it.
#pragma once

#ifdef __OBJC__
typedef id dispatch_queue_t;
#else
typedef void *dispatch_queue_t;
#endif
typedef void (^dispatch_block_t)(void);
enum { QOS_CLASS_UTILITY = 0x11 };

#ifdef __cplusplus
extern "C" {
#endif
dispatch_queue_t dispatch_get_main_queue(void);
dispatch_queue_t dispatch_get_global_queue(long quality, unsigned long flags);
void dispatch_async(dispatch_queue_t queue, dispatch_block_t block);
#ifdef __cplusplus
}
#endif
