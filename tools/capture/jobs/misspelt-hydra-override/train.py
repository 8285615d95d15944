import hydra, torch, torch.distributed as dist
@hydra.main(version_base=None, config_path="conf", config_name="config")
def main(cfg):
    dist.init_process_group("nccl")
    print(cfg.trainer.max_steps)
if __name__ == "__main__":
    main()
