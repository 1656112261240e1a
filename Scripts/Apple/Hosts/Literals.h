// Own text: what literals and the samples of Examples/Hosts need beyond `SDK`, which has what the rooms use.
// Source: Apple's documentation pages of each symbol, 28 November 2026.
#pragma once
#import <AVFoundation/AVFoundation.h>
#define NS_ASSUME_NONNULL_BEGIN _Pragma("clang assume_nonnull begin")
#define NS_ASSUME_NONNULL_END _Pragma("clang assume_nonnull end")
#define nil ((void *)0)
NS_ASSUME_NONNULL_BEGIN
extern dispatch_queue_t dispatch_get_main_queue(void);
@interface AVAsset (Hosts)
+ (instancetype)assetWithURL:(NSURL *)URL;
@end
@interface NSObject (Hosts)
+ (instancetype)alloc;
+ (Class)class;
- (BOOL)isKindOfClass:(Class)aClass;
@end
@interface NSString (Hosts)
- (BOOL)isEqualToString:(NSString *)string;
@end
@interface NSNumber (Hosts)
+ (NSNumber *)numberWithInteger:(NSInteger)value;
+ (NSNumber *)numberWithLong:(long)value;
@end
@interface NSArray<__covariant ObjectType> (Hosts)
+ (instancetype)arrayWithObjects:(const ObjectType _Nonnull [_Nullable])objects count:(NSUInteger)count;
@end
@interface NSDictionary<__covariant KeyType, __covariant ObjectType> (Hosts)
+ (instancetype)dictionaryWithObjects:(const ObjectType _Nonnull [_Nullable])objects
                              forKeys:(const KeyType<NSCopying> _Nonnull [_Nullable])keys count:(NSUInteger)count;
- (nullable ObjectType)objectForKeyedSubscript:(KeyType)key;
@end
@interface NSMutableDictionary<KeyType, ObjectType> : NSDictionary<KeyType, ObjectType>
+ (instancetype)dictionary;
- (void)setObject:(nullable ObjectType)object forKeyedSubscript:(KeyType<NSCopying>)key;
- (void)removeObjectForKey:(KeyType)key;
@end
NS_ASSUME_NONNULL_END
