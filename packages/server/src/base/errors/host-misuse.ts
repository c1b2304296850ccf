/**
 * The host mounted or called the endpoint wrongly: for example, a middleware has read the body of a request. The message
 * has no value of a request, so that it may be logged.
 */
export class HostMisuse extends TypeError {
  override readonly name = "HostMisuse";
}
