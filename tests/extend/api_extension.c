
void api_extension(struct api_call *call)
{
	struct run_probe *probe = run_probe_new(call->arena);
	SET(probe, status, S("extended"));
	api_reply_json(call->api, call->exchange, 200, run_probe_text(probe, call->arena));
}
